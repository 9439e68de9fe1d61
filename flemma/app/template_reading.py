"""Templates of a chat: what they may read, and who is asked for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flemma.conversation.references import Place
from flemma.ports.clock import Clock
from flemma.templating.evaluation import Evaluation, TemplateSetting
from flemma.templating.files import Personalities, TemplateFiles


@dataclass(slots=True)
class TemplateReader:
    """Makes the evaluation of one document, fresh for each send."""

    files: TemplateFiles
    clock: Clock
    place: Callable[[str | None], Place]
    personalities: Callable[[str | None, int, Sequence[str]], Personalities]
    """Personalities for a chat: its path, its buffer, the tools it offers."""
    pid: int

    def evaluation(
        self,
        path: str | None,
        buffer_id: int,
        variables: Mapping[str, Any],
        tool_names: Sequence[str],
    ) -> Evaluation:
        """Return the templates of a chat; ``variables`` come from its frontmatter."""
        return Evaluation(
            TemplateSetting(
                place=self.place(path),
                files=self.files,
                now=self.clock.now(),
                variables={"bufnr": buffer_id, **variables},
                personalities=self.personalities(path, buffer_id, tool_names),
                pid=self.pid,
            )
        )
