"""From a document to the conversation a model reads. Equal documents give equal conversations.

What a provider would refuse is repaired here, for all providers alike: results stand directly
behind their calls and first in their message (B-06), every call has exactly one (B-01, B-02), ids
are unique (B-07), blank texts are gone, no text holds half a surrogate pair (B-14).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from flemma.chat.document import Document
from flemma.chat.message import Message as ChatMessage
from flemma.chat.nodes import (
    Aborted,
    Diagnostic,
    JobResult,
    Severity,
    Status,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from flemma.chat.pairing import Located
from flemma.conversation.messages import (
    ContentPart,
    Conversation,
    Message,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolResultPart,
    ToolUsePart,
)
from flemma.conversation.results import NO_RESULT, Calls, SentCall, missing_result, safe_input
from flemma.conversation.templates import (
    Rendered,
    RenderedItem,
    Templates,
    as_written,
    is_evaluated,
)
from flemma.text.safe import without_surrogates


class Emptiness(StrEnum):
    """Why there is nothing to send; the value is the message for the user (behaviour 2.5)."""

    BUFFER = "Empty buffer — nothing to send."
    MESSAGES = "No messages found in buffer."


@dataclass(frozen=True, slots=True)
class BuiltConversation:
    """A conversation and what was wrong with it.

    Lines of the diagnostics are absolute and 0-based; those of the parser
    (:meth:`Document.diagnostics`) are not among them. With an error among them it must not be sent.
    """

    conversation: Conversation
    diagnostics: tuple[Diagnostic, ...]
    used_files: Mapping[str, str]
    """Absolute path to SHA-256 of every file that was included."""
    emptiness: Emptiness | None = None

    @property
    def is_blocked(self) -> bool:
        """Whether an error forbids to send it."""
        return any(problem.severity is Severity.ERROR for problem in self.diagnostics)


def build(
    document: Document, templates: Templates, emits_template: Callable[[str], bool]
) -> BuiltConversation:
    """Build the conversation of ``document``.

    ``templates`` is new for each build; ``emits_template`` tells whether the results of the tool of
    that name are templates (spec: tools, "Capability tags").
    """
    builder = _Builder(document, templates, emits_template)
    conversation = builder.build()
    return BuiltConversation(
        conversation,
        tuple(builder.diagnostics),
        dict(templates.used_files),
        _emptiness(document, conversation),
    )


def _emptiness(document: Document, conversation: Conversation) -> Emptiness | None:
    if not document.messages and document.frontmatter is None:
        return Emptiness.BUFFER
    return None if conversation.messages else Emptiness.MESSAGES


class _Builder:
    def __init__(
        self, document: Document, templates: Templates, emits_template: Callable[[str], bool]
    ) -> None:
        self._document = document
        self._templates = templates
        self._emits_template = emits_template
        self._calls = Calls(document)
        self._emitted: set[int] = set()
        self._system: str | None = None
        self._contents: dict[int, list[Part]] = {}
        self._messages: list[Message] = []
        self.diagnostics: list[Diagnostic] = []

    def build(self) -> Conversation:
        # All of them first: what a template leaves out decides which results there are.
        for index, message in enumerate(self._document.messages):
            match message.role:
                case "system":
                    self._system = self._system_prompt(index, message)
                case "user":
                    self._contents[index] = self._user_content(index, message)
                case _:
                    pass
        for index, message in enumerate(self._document.messages):
            if message.role == "assistant":
                self._add_assistant(index, message)
            elif message.role == "user":
                self._add_user(self._contents[index])
        return Conversation(self._system or None, tuple(self._messages))

    def _add_assistant(self, index: int, message: ChatMessage) -> None:
        parts = self._assistant_parts(index, message)
        if parts:
            self._messages.append(Message(Role.ASSISTANT, tuple(parts)))
            self._add_user([self._result_part(sent) for sent in self._calls.of_message(index)])

    def _add_user(self, parts: Sequence[Part]) -> None:
        """Add parts to the user's turn; neighbouring ones are one message."""
        if not parts:
            return
        if self._messages and self._messages[-1].role is Role.USER:
            last = self._messages.pop()
            parts = (*last.parts, *parts)
        self._messages.append(Message(Role.USER, tuple(parts)))

    def _assistant_parts(self, index: int, message: ChatMessage) -> list[Part]:
        calls_tools = bool(self._calls.of_message(index))
        parts: list[Part] = []
        for number, segment in enumerate(message.segments):
            match segment:
                case Thinking():
                    parts.extend(_thinking(segment))
                case ToolUse():
                    sent = self._calls.at(index, number)
                    if sent is not None:
                        parts.append(ToolUsePart(sent.id, segment.name, safe_input(segment.input)))
                case Aborted(message=text) if not calls_tools:
                    parts.append(TextPart(without_surrogates(f"<!-- {text} -->")))
                case Text(text=text) if text.strip():
                    parts.append(TextPart(without_surrogates(text.strip())))
                case _:
                    pass
        return parts

    def _system_prompt(self, index: int, message: ChatMessage) -> str:
        texts: list[str] = []
        for item in self._rendered(index, message).items:
            match item:
                case str():
                    texts.append(item)
                case TextPart(text=text):
                    texts.append(text)
                case _:
                    self._warn(index, "Only text can be part of a system prompt", item)
        return without_surrogates("\n".join(texts).strip())

    def _user_content(self, index: int, message: ChatMessage) -> list[Part]:
        items = self._rendered(index, message).items
        parts: list[Part] = []
        for number, item in enumerate(items):
            match item:
                case str():
                    before = items[number - 1] if number else None
                    after = items[number + 1] if number + 1 < len(items) else None
                    parts.extend(_text(item, at_start=_edge(before), at_end=_edge(after)))
                case TextPart(text=text):
                    parts.extend(_text(text, at_start=False, at_end=False))
                case ToolResult():
                    parts.extend(self._carried_result(index, item))
                case JobResult():
                    parts.append(self._job_result(item))
                case ToolUse() | Thinking() | Aborted():
                    pass
                case _:
                    parts.append(item)
        return parts

    def _carried_result(self, index: int, node: ToolResult) -> list[Part]:
        """Note a result that was passed through; one without a call becomes text of the user."""
        if self._calls.has_call(node) or node.is_placeholder:
            self._emitted.add(id(node))
            return []
        unread = self._calls.unread_call(node)
        if unread is not None:
            name = unread.use.node.name
            heading = f"[Result of a call of {name} ({unread.id}) whose input could not be read]"
        else:
            heading = f"[Tool result without a tool call ({node.tool_use_id})]"
            message = f"Tool result ({node.tool_use_id}) has no matching tool call; sent as text."
            self._warn(index, message, node)
        return [TextPart(without_surrogates(f"{heading}\n{node.content}"))]

    def _job_result(self, node: JobResult) -> TextPart:
        origin = self._calls.origin_of_job(node.job_id)
        if origin is None:
            heading = f"[Job result for unknown tool (job: {node.job_id})]"
        else:
            heading = f"[Job result for {origin[0]} ({origin[1]})]"
        return TextPart(without_surrogates(f"{heading}\n{node.content}"))

    def _result_part(self, sent: SentCall) -> ToolResultPart:
        result = sent.result
        if result is None or id(result.node) not in self._emitted:
            self.diagnostics.append(missing_result(sent))
            return ToolResultPart(sent.id, (TextPart(NO_RESULT),), is_error=True)
        content = self._result_content(sent.call.use.node.name, result)
        return ToolResultPart(sent.id, content, result.node.status is Status.ERROR)

    def _result_content(
        self, tool_name: str, result: Located[ToolResult]
    ) -> tuple[ContentPart, ...]:
        node = result.node
        if not (any(map(is_evaluated, node.segments)) and self._emits_template(tool_name)):
            return (TextPart(without_surrogates(node.content)),) if node.content else ()
        rendered = self._templates.render(node.segments, in_tool_result=True)
        self._report(result.message, rendered)
        parts: list[ContentPart] = []
        for item in rendered.items:
            match item:
                case str():
                    parts.extend(_text(item, at_start=False, at_end=False))
                case TextPart(text=text):
                    parts.extend(_text(text, at_start=False, at_end=False))
                case ToolResult() | JobResult() | ToolUse() | Thinking() | Aborted():
                    pass
                case _:
                    parts.append(item)
        return tuple(parts)

    def _rendered(self, index: int, message: ChatMessage) -> Rendered:
        segments = message.segments
        if not any(map(is_evaluated, segments)):
            return Rendered(tuple(map(as_written, segments)))
        rendered = self._templates.render(segments)
        self._report(index, rendered)
        if rendered.failed:
            # The error blocks the send; that its results are missing is not another problem.
            self._emitted.update(id(node) for node in segments if isinstance(node, ToolResult))
        return rendered

    def _report(self, index: int, rendered: Rendered) -> None:
        start, role = self._document.start_of(index), self._document.messages[index].role
        self.diagnostics.extend(
            replace(problem, line=start + problem.line, role=role)
            for problem in rendered.diagnostics
        )

    def _warn(self, index: int, message: str, item: RenderedItem) -> None:
        line = self._document.start_of(index) + getattr(item, "start", 0)
        role = self._document.messages[index].role
        kind = "tool_result" if isinstance(item, ToolResult) else "file"
        reference = getattr(item, "name", None)
        self.diagnostics.append(
            Diagnostic(kind, Severity.WARNING, message, line, role=role, reference=reference)
        )


def _thinking(node: Thinking) -> list[Part]:
    if not (node.text or node.signature):
        return []
    text = without_surrogates(node.text)
    return [ThinkingPart(text, node.provider, node.signature, node.redacted)]


def _edge(neighbour: RenderedItem | None) -> bool:
    """Tell whether blank lines next to ``neighbour`` only set blocks apart."""
    return neighbour is None or isinstance(neighbour, ToolResult | JobResult)


def _text(text: str, *, at_start: bool, at_end: bool) -> list[TextPart]:
    """Return the text without blank lines at its edges; nothing when it is blank."""
    if not text.strip():
        return []
    if at_start:
        blank = len(text) - len(text.lstrip())
        text = text[text.rfind("\n", 0, blank) + 1 :]
    if at_end:
        text = text.rstrip()
    return [TextPart(without_surrogates(text))]
