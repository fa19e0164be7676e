"""Text that is safe to show: role names and a master's sentences must not steer a terminal."""


def printable(text: str) -> str:
    """`text` with everything that is not printable escaped, control characters and direction marks included."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
