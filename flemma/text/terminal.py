"""What a program wrote to a terminal, as text a model can read (cases X-14, X-15).

Progress bars and redrawn lines collapse to their last state; colours, titles, links and other
sequences vanish; control characters and bytes that are not UTF-8 are shown as ``\\x1b``. The same
bytes give the same text however they were cut into chunks.
"""

import codecs
import re
from collections.abc import Callable

from flemma.text.screen import Screen

_PLAIN = bytes([0x09, 0x0A, *range(0x20, 0x7F)])

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)"
    r"|(?P<newline>\n)"
    r"|(?P<csi>\x1b\[(?P<parameters>[0-?]{0,64})[ -/]{0,8}(?P<final>[@-~])?)"
    r"|(?P<string>\x1b[\]PX^_])"
    r"|(?P<escape>\x1b(?:[ -/]{1,8}[0-~]?|(?P<command>[0-~])?))"
    r"|(?P<control>[\x00-\x08\x0b-\x1f\x7f-\x9f])"
)

_SPECIAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# Ends of a chunk that only the next chunk can complete.
_INCOMPLETE = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|[ -/]{0,8})?\Z")

# A newline ends a string too: an unterminated title must not swallow the rest of the output.
_STRING_END = re.compile(r"\x07|\x9c|\x18|\x1a|(?=\n)|\x1b\\|(?=\x1b[^\\])")

_SILENT = frozenset("\x07\x0e\x0f")


class TerminalText:
    """Turns terminal output into text, incrementally and in bounded memory."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._screen = Screen()
        self._pending = ""
        self._in_string = False

    def feed(self, data: bytes) -> str:
        """Take the next bytes; return text that can no longer change."""
        text = self._pending + self._decoder.decode(data)
        lines = None if self._in_string else _plain_lines(text)
        if lines is None:
            self._take(text)
        else:
            self._pending = "\r" if text.endswith("\r") else ""
            self._screen.write_lines(lines)
        return self._screen.take_final()

    def finish(self) -> str:
        """Return the rest of the text; the object starts afresh."""
        text = self._pending + self._decoder.decode(b"", final=True)
        self._pending = ""
        self._take(text)
        self._pending = ""
        self._in_string = False
        return self._screen.finish()

    def _take(self, text: str) -> None:
        incomplete = _INCOMPLETE.search(text, max(0, len(text) - 80))
        self._pending = incomplete.group() if incomplete else ""
        end = incomplete.start() if incomplete else len(text)
        position = 0
        while position < end:
            if self._in_string:
                position = self._skip_string(text, position, end)
                continue
            token = _TOKEN.match(text, position, end)
            if token is None:
                raise AssertionError(f"no token at {text[position : position + 8]!r}")
            self._apply(token)
            position = token.end()

    def _skip_string(self, text: str, position: int, end: int) -> int:
        found = _STRING_END.search(text, position)
        if found is None or found.start() >= end:
            return end
        self._in_string = False
        return found.end()

    def _apply(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "text":
                self._screen.write(token.group())
            case "newline":
                self._screen.newline()
            case "csi":
                self._apply_csi(token["parameters"], token["final"])
            case "string":
                self._in_string = True
            case "escape":
                self._apply_escape(token["command"])
            case _:
                self._apply_control(token.group())

    def _apply_control(self, character: str) -> None:
        match character:
            case "\r":
                self._screen.carriage_return()
            case "\b":
                self._screen.backspace()
            case _ if character not in _SILENT:
                self._screen.write(f"\\x{ord(character):02x}")
            case _:
                pass

    def _apply_escape(self, command: str | None) -> None:
        match command:
            case "7":
                self._screen.save_cursor()
            case "8":
                self._screen.restore_cursor()
            case "M":
                self._screen.move_rows(-1)
            case "D" | "E":
                self._screen.newline()
            case "c":
                self._screen.clear()
            case _:
                pass

    def _apply_csi(self, parameters: str, final: str | None) -> None:
        if final is None or parameters[:1] in {"<", "=", ">", "?"}:
            return
        numbers = [int(part) if part.isdecimal() else 0 for part in parameters.split(";")]
        action = _CSI.get(final)
        if action:
            action(self._screen, [min(number, 10_000) for number in numbers])


def _plain_lines(text: str) -> str | None:
    """Return the text if it needs no interpretation, None otherwise.

    A terminal ends lines in CR LF, which says no more than LF; a CR at the end may be half of it.
    """
    if "\r" in text:
        text = text.removesuffix("\r").replace("\r\n", "\n")
    if text.isascii():
        # Translating bytes is faster than searching a string.
        return None if text.encode().translate(None, _PLAIN) else text
    return None if _SPECIAL.search(text) else text


def _count(numbers: list[int]) -> int:
    return max(1, numbers[0])


def _next_rows(screen: Screen, numbers: list[int], direction: int) -> None:
    screen.move_rows(direction * _count(numbers))
    screen.carriage_return()


def _go_to(screen: Screen, numbers: list[int]) -> None:
    column = numbers[1] if len(numbers) > 1 else 1
    screen.go_to(_count(numbers) - 1, max(1, column) - 1)


def _erase_display(screen: Screen, numbers: list[int]) -> None:
    match numbers[0]:
        case 0:
            screen.erase_below()
        case 1:
            screen.erase_above()
        case _:
            screen.clear()


_CSI: dict[str, Callable[[Screen, list[int]], None]] = {
    "A": lambda screen, numbers: screen.move_rows(-_count(numbers)),
    "B": lambda screen, numbers: screen.move_rows(_count(numbers)),
    "C": lambda screen, numbers: screen.move_columns(_count(numbers)),
    "D": lambda screen, numbers: screen.move_columns(-_count(numbers)),
    "E": lambda screen, numbers: _next_rows(screen, numbers, 1),
    "F": lambda screen, numbers: _next_rows(screen, numbers, -1),
    "G": lambda screen, numbers: screen.go_to_column(_count(numbers) - 1),
    "d": lambda screen, numbers: screen.go_to_row(_count(numbers) - 1),
    "H": _go_to,
    "f": _go_to,
    "J": _erase_display,
    "K": lambda screen, numbers: screen.erase_in_line(numbers[0]),
    "P": lambda screen, numbers: screen.delete_characters(_count(numbers)),
    "X": lambda screen, numbers: screen.erase_characters(_count(numbers)),
    "@": lambda screen, numbers: screen.insert_blanks(_count(numbers)),
    "s": lambda screen, _: screen.save_cursor(),
    "u": lambda screen, _: screen.restore_cursor(),
}
