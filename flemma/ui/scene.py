"""What one message is drawn from: the document around it, what runs, the options."""

from dataclasses import dataclass

from flemma.chat.document import Document
from flemma.chat.message import Message
from flemma.chat.nodes import JobResult, ToolResult, ToolUse
from flemma.ui.calls import find_result, find_use
from flemma.ui.state import Preview, PreviewOf, RunState, ViewOptions


@dataclass(frozen=True, slots=True)
class Scene:
    """A document at a moment."""

    document: Document
    run: RunState
    options: ViewOptions
    preview_of: PreviewOf

    def message(self, index: int) -> Message:
        """Return message ``index``."""
        return self.document.messages[index]

    def is_last(self, index: int) -> bool:
        """Whether no message follows ``index``."""
        return index == len(self.document.messages) - 1

    def result_of(self, index: int, use: ToolUse) -> ToolResult | None:
        """Return the result of a use in message ``index``."""
        return find_result(self.document, index, use.id)

    def use_of(self, index: int, result: ToolResult) -> ToolUse | None:
        """Return the use of a result in message ``index``."""
        return find_use(self.document, index, result.tool_use_id)

    def preview(self, use: ToolUse) -> Preview:
        """Return the summary of a call."""
        return self.preview_of(use)

    def tool_of_job(self, index: int, job: JobResult) -> str | None:
        """Return the name of the tool whose placeholder stands for a delivered job."""
        for number in range(index, -1, -1):
            for _, result in self.message(number).tools.results:
                if result.job_id == job.job_id:
                    use = self.use_of(number, result)
                    return use.name if use else None
        return None
