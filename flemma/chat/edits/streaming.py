"""The text of one response, piece by piece, as it is to be appended to the document."""

import json
import re
from collections.abc import Mapping

from flemma.chat.edits.layout import block_lines
from flemma.chat.fences import next_fence
from flemma.chat.headers import (
    THINKING_CLOSE,
    read_role_marker,
    thinking_tag,
    tool_use_header,
)
from flemma.chat.nodes import JsonValue
from flemma.chat.segments import write_thought

_STRUCTURAL = (
    "**Tool Use:**",
    "<thinking",
    THINKING_CLOSE,
    "<!-- flemma:aborted:",
    "<!--flemma:aborted:",
)
_PARTIAL_MARKER = re.compile(r"@[A-Za-z0-9]{0,64}(?::[ \t\r\f\v]{0,64})?")
# Taken for a marker without waiting for the end of the line, so that not much is ever held back.
_LONG_MARKER = re.compile(r"@[A-Za-z0-9]{65}|@[A-Za-z0-9]{1,64}:[ \t\r\f\v]{65}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class ResponseText:
    """Gives the exact text to append for each part of a response.

    The document must end with the bare `@Assistant:` line; nothing but the returned texts may be
    appended, in order. :meth:`close` ends the response.

    Text of the model never becomes structure: outside code fences a line that would read as a role
    marker, a thinking tag, a tool header or an aborted marker gets a space in front. For that the
    beginning of a line is held back while it could still become one. A fence the text leaves open
    is closed before a block is written.
    """

    def __init__(self, *, compact_headers: bool = True) -> None:
        self._compact_headers = compact_headers
        self._written = False
        self._line: list[str] = []
        self._held = ""
        self._fence = 0

    def text(self, chunk: str) -> str:
        """Return what to append for a piece of the answer; blanks before the first are dropped."""
        if self._written:
            return self._feed(chunk)
        chunk = chunk.lstrip()
        if not chunk:
            return ""
        self._written = True
        return "\n" + self._feed(chunk)

    def thinking(
        self,
        text: str,
        provider: str | None = None,
        signature: str | None = None,
        *,
        redacted: bool = False,
    ) -> str:
        """Return what to append for a complete thinking block (spec: behaviour 1.7).

        Signed and redacted thinking is kept to the letter, since the signature covers it. Thinking
        that is empty and unsigned gives nothing.
        """
        if redacted:
            return self._redacted_separator() + _thinking_block("<thinking redacted>", text)
        thought = text.strip() if signature is None else text
        if not thought and signature is None:
            return ""
        return self._separator() + _thinking_block(thinking_tag(provider, signature), thought)

    def tool_use(self, tool_use_id: str, name: str, tool_input: Mapping[str, JsonValue]) -> str:
        """Return what to append for a complete tool use; no arguments are ``{}``."""
        return self.tool_use_as_written(tool_use_id, name, json_text(tool_input))

    def tool_use_as_written(self, tool_use_id: str, name: str, body: str) -> str:
        """Return what to append for a tool use whose arguments are no JSON, as they arrived."""
        first = "" if self._written else "\n"
        lines = block_lines(
            tool_use_header(name, tool_use_id),
            body.strip() or "{}",
            "json",
            compact_headers=self._compact_headers,
        )
        return first + self._separator() + "\n".join(lines) + "\n"

    def close(self) -> str:
        """Return what was held back; the response is complete."""
        held, self._held = self._held, ""
        return self._emit(_guarded(held)) if held else ""

    def _feed(self, chunk: str) -> str:
        chunk, self._held = self._held + chunk, ""
        *complete, rest = chunk.split("\n")
        pieces: list[str] = []
        for piece in complete:
            pieces.append(self._emit(self._outside_structure(piece)))
            pieces.append("\n")
            self._end_line()
        if self._at_line_start and not self._fence and _may_become_structure(rest):
            self._held = rest
        else:
            pieces.append(self._emit(self._outside_structure(rest)))
        return "".join(pieces)

    @property
    def _at_line_start(self) -> bool:
        return not self._line

    def _outside_structure(self, piece: str) -> str:
        return _guarded(piece) if self._at_line_start and not self._fence else piece

    def _emit(self, piece: str) -> str:
        if piece:
            self._line.append(piece)
        return piece

    def _end_line(self) -> None:
        self._fence = next_fence(self._fence, "".join(self._line))
        self._line.clear()

    def _separator(self) -> str:
        """Return what goes between the text so far and a block: a blank line."""
        if not self._written:
            self._written = True
            return "\n"
        return self._line_end() + "\n"

    def _redacted_separator(self) -> str:
        if not self._written:
            self._written = True
            return "\n"
        return self._line_end()

    def _line_end(self) -> str:
        """Return what brings the text to the start of a line outside any fence."""
        ended = self.close()
        if not self._at_line_start:
            ended += "\n"
            self._end_line()
        if self._fence:
            ended += "`" * self._fence + "\n"
            self._fence = 0
        return ended


def json_text(value: Mapping[str, JsonValue]) -> str:
    """Return JSON as it is written into a chat: readable, and valid UTF-8 whatever is in it."""
    text = json.dumps(dict(value), ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _thinking_block(tag: str, text: str) -> str:
    lines = [write_thought(line) for line in text.split("\n")] if text else []
    return "\n".join([tag, *lines, THINKING_CLOSE, ""])


def _may_become_structure(line: str) -> bool:
    if not line:
        return False
    if _PARTIAL_MARKER.fullmatch(line):
        return True
    return any(start.startswith(line) and start != line for start in _STRUCTURAL)


def _guarded(line: str) -> str:
    structural = line.startswith(_STRUCTURAL) or _LONG_MARKER.match(line)
    return " " + line if structural or read_role_marker(line) is not None else line
