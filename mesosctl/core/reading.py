"""Why a file cannot be read, in words."""


def why_unreadable(error: OSError | ValueError) -> str:
    """The reason alone, without the number and the path that the system's own sentence has around it."""
    if isinstance(error, OSError):
        return error.strerror or "the system does not say why"
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    return "its name cannot be that of a file"  # a null character
