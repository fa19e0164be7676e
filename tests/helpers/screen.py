"""The screen of a terminal after a program has written to it: the few control sequences that rich uses."""

import re

_TOKENS = re.compile(r"\x1b\[(?P<numbers>[?0-9;]*)(?P<letter>[A-Za-z])|(?P<text>[^\x1b])", re.DOTALL)


def visible(written: str) -> list[str]:
    """The lines that are left on a screen of any size, without blanks at the end; fails for another sequence."""
    lines: list[list[str]] = [[]]
    row = column = 0
    end = 0
    for found in _TOKENS.finditer(written):
        assert found.start() == end, written[end : end + 20]
        end = found.end()
        letter, numbers, text = found["letter"], found["numbers"], found["text"]
        if text == "\n":
            row, column = row + 1, 0
            if row == len(lines):
                lines.append([])
        elif text == "\r":
            column = 0
        elif text is not None:
            line = lines[row]
            line += " " * (column + 1 - len(line))
            line[column] = text
            column += 1
        elif letter == "A":
            row -= int(numbers or 1)
        elif letter == "K":
            assert numbers == "2", numbers
            lines[row] = []
        else:
            assert letter == "m" or numbers == "?25", found[0]
    assert end == len(written)
    shown = ["".join(line).rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    return shown


def is_cursor_shown(written: str) -> bool:
    """Whether the cursor is as it was found."""
    return written.rfind("\x1b[?25h") >= written.rfind("\x1b[?25l")
