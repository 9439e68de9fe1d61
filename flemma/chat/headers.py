"""Role markers and the headers of tool and job blocks: reading them, and writing them back.

spec: behaviour 1.1, 1.3 to 1.5, 1.8; tools "Tool status suffix".
"""

import re
from dataclasses import dataclass

from flemma.chat.modeline import parse_modeline, split_token
from flemma.chat.nodes import Meta, ModelineValue, Status

SYSTEM = "system"
USER = "user"
ASSISTANT = "assistant"

_ROLES = {"System": SYSTEM, "You": USER, "Assistant": ASSISTANT}
_MARKERS = {role: f"@{name}:" for name, role in _ROLES.items()}

_SPACE = r"[ \t\r\f\v]*"
_ROLE_MARKER = re.compile(rf"@([A-Za-z0-9]+):{_SPACE}")
_TOOL_USE = re.compile(rf"\*\*Tool Use:\*\*{_SPACE}`([^`]+)`{_SPACE}\(`([^`]+)`\)")
_TOOL_RESULT = re.compile(rf"\*\*Tool Result:\*\*{_SPACE}`([^`]+)`")
_JOB_RESULT = re.compile(rf"\*\*Job Result:\*\*{_SPACE}`([^`]+)`")
_SUFFIX = re.compile(rf"{_SPACE}\((.*)\){_SPACE}")
_THINKING = re.compile(
    r"<thinking(?:(?P<redacted> redacted)"
    r"|[ ](?P<provider>[A-Za-z0-9]+):signature=\"(?P<signature>[^\"]*)\"(?P<closed>[ \t]*/)?)?>"
    rf"{_SPACE}"
)
_ABORTED = re.compile(rf"<!--[ \t]*flemma:aborted:(.*?)-->{_SPACE}")

THINKING_CLOSE = "</thinking>"

_STATUS_WORDS = {status.value: status for status in Status} | {
    "reject": Status.REJECTED,
    "deny": Status.DENIED,
}


@dataclass(frozen=True, slots=True)
class ResultHeader:
    """Header of a tool result or job result; ``id`` is the tool use id or the job id."""

    id: str
    status: Status | None
    meta: Meta | None


@dataclass(frozen=True, slots=True)
class ThinkingTag:
    """An opening ``<thinking>`` line; ``closed`` when it is a block by itself."""

    provider: str | None = None
    signature: str | None = None
    redacted: bool = False
    closed: bool = False


def role_key(name: str) -> str:
    """Return the internal key of the role named in a marker.

    Any word but the three known ones is a role of its own that is never sent: lower-cased, and
    with its ``@`` kept where it would else read like a known key (``@User:`` is not ``@You:``).
    """
    known = _ROLES.get(name)
    if known is not None:
        return known
    lowered = name.lower()
    return f"@{lowered}" if lowered in _MARKERS else lowered


def role_marker(role: str) -> str:
    """Return the marker line of one of the three known roles; raises KeyError for others."""
    return _MARKERS[role]


def read_role_marker(line: str) -> str | None:
    """Return the role key when ``line`` is a marker, else None."""
    found = _ROLE_MARKER.fullmatch(line)
    return role_key(found.group(1)) if found else None


def read_tool_use(line: str) -> tuple[str, str] | None:
    """Return tool name and id of a tool use header; text after the id is ignored."""
    found = _TOOL_USE.match(line)
    return (found.group(1), found.group(2)) if found else None


def read_tool_result(line: str) -> ResultHeader | None:
    """Return what a tool result header says, or None for another line."""
    return _read_result(_TOOL_RESULT, line)


def read_job_result(line: str) -> ResultHeader | None:
    """Return what a job result header says, or None for another line."""
    return _read_result(_JOB_RESULT, line)


def read_thinking(line: str) -> ThinkingTag | None:
    """Return the tag when ``line`` opens a thinking block, else None (spec: behaviour 1.7)."""
    found = _THINKING.fullmatch(line)
    if found is None:
        return None
    return ThinkingTag(
        provider=found["provider"],
        signature=found["signature"],
        redacted=found["redacted"] is not None,
        closed=found["closed"] is not None,
    )


def closes_thinking(line: str) -> bool:
    """Whether ``line`` is the closing tag of a thinking block."""
    return line.startswith(THINKING_CLOSE) and line.rstrip("\r") == THINKING_CLOSE


def read_aborted(line: str) -> str | None:
    """Return the message of an aborted marker, or None for another line (spec: behaviour 1.8)."""
    found = _ABORTED.fullmatch(line)
    return found.group(1).strip() if found else None


def _read_result(pattern: re.Pattern[str], line: str) -> ResultHeader | None:
    found = pattern.match(line)
    if found is None:
        return None
    suffix = _SUFFIX.fullmatch(line, found.end())
    status, meta = read_suffix(suffix.group(1)) if suffix else (None, None)
    return ResultHeader(found.group(1), status, meta)


def read_status(word: ModelineValue) -> Status | None:
    """Return the status a word stands for, input aliases included, else None."""
    return _STATUS_WORDS.get(word) if isinstance(word, str) else None


def read_suffix(text: str) -> tuple[Status | None, Meta | None]:
    """Split the text between the parentheses into the status and everything else.

    A keyword ``status`` with a known word wins, else the first positional that is one; what is not
    the status is kept in order (spec: behaviour 1.4, case 8 and 10).
    """
    tokens = parse_modeline(text).tokens
    chosen = _status_token(tokens)
    status = None if chosen is None else read_status(split_token(tokens[chosen])[1])
    rest = tuple(
        token
        for index, token in enumerate(tokens)
        if index != chosen and not (chosen is not None and _is_status_keyword(token))
    )
    return status, make_meta(rest)


def make_meta(tokens: tuple[str, ...]) -> Meta | None:
    """Return the meta made of modeline tokens, or None when there are none."""
    if not tokens:
        return None
    parsed = [split_token(token) for token in tokens]
    return Meta(
        positionals=tuple(v for key, v in parsed if key is None and v is not None),
        keywords=tuple((key, v) for key, v in parsed if key is not None and v is not None),
        raw=tokens,
    )


def _status_token(tokens: tuple[str, ...]) -> int | None:
    keyed = [index for index, token in enumerate(tokens) if _is_status_keyword(token)]
    if keyed:
        return keyed[-1]
    return next((index for index, token in enumerate(tokens) if _is_status_word(token)), None)


def _is_status_keyword(token: str) -> bool:
    key, value = split_token(token)
    return key == "status" and read_status(value) is not None


def _is_status_word(token: str) -> bool:
    key, value = split_token(token)
    return key is None and read_status(value) is not None


def write_suffix(status: Status | None, meta: Meta | None) -> str:
    """Return `` (…)`` for a header, or an empty string; reading it gives ``status`` again.

    The status comes first, unknown tokens follow as they were written. What else could be read as
    the status is left out.
    """
    raw = meta.raw if meta else ()
    tokens = [token for token in raw if not _is_status_keyword(token)]
    if status is None:
        tokens = [token for token in tokens if not _is_status_word(token)]
    else:
        tokens.insert(0, status.value)
    return f" ({' '.join(tokens)})" if tokens else ""


def _quotable(name: str) -> str:
    return re.sub(r"[`\r\n]", "_", name) or "_"


def tool_use_header(name: str, tool_use_id: str) -> str:
    """Return the header line of a tool use.

    Models invent names: what a header cannot hold is replaced, so that the block still reads.
    """
    return f"**Tool Use:** `{_quotable(name)}` (`{_quotable(tool_use_id)}`)"


def tool_result_header(
    tool_use_id: str, status: Status | None = None, meta: Meta | None = None
) -> str:
    """Return the header line of a tool result."""
    return f"**Tool Result:** `{_quotable(tool_use_id)}`{write_suffix(status, meta)}"


def job_result_header(job_id: str, status: Status | None = None, meta: Meta | None = None) -> str:
    """Return the header line of a job result."""
    return f"**Job Result:** `{job_id}`{write_suffix(status, meta)}"


def aborted_marker(message: str) -> str:
    """Return the marker line of an interrupted response."""
    flat = " ".join(message.replace("-->", "→").split())
    return f"<!-- flemma:aborted: {flat} -->"


def thinking_tag(provider: str | None, signature: str | None) -> str:
    """Return the opening line of a thinking block, with its signature if it has one."""
    if provider is None or signature is None:
        return "<thinking>"
    return f'<thinking {provider}:signature="{signature}">'
