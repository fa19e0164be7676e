"""What an id may be that somebody chooses: a framework's, a task's, a volume's (spec/endpoints.md §5)."""

_LONGEST = 255
_DELETE = "\x7f"


def id_error(name: str) -> str | None:
    """Why a name cannot be an id, in the words of the master; None where it can."""
    if not name:
        return "ID must not be empty"
    if len(name.encode(errors="surrogateescape")) > _LONGEST:
        return f"ID must not be greater than {_LONGEST} characters"
    if name in (".", ".."):
        return f"'{name}' is disallowed"
    if any(character in "/\\" or character < " " or character == _DELETE for character in name):
        return f"'{name}' contains invalid characters"
    return None
