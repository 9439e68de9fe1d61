"""Prepares a send: conversation, diagnostics, parameters, tools, credential (behaviour 2.5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flemma.app.exchange import Sending
from flemma.app.parameters import resolve_parameters
from flemma.app.report import diagnostics_report
from flemma.app.services import Services
from flemma.app.settings import BufferSettings
from flemma.chat.document import Document
from flemma.chat.lint import lint
from flemma.chat.nodes import Diagnostic, Severity
from flemma.conversation.build import BuiltConversation, build
from flemma.conversation.messages import Role
from flemma.conversation.references import drifted
from flemma.errors import FlemmaError
from flemma.models.catalogue import Model
from flemma.ports.credentials import CredentialRequest
from flemma.ports.editor import Level
from flemma.providers.protocol import WireTool
from flemma.tools.wire_names import WireNames
from flemma.tools.wire_tools import sent_tools

SLOW_CREDENTIAL = 0.6
"""Seconds before the user is told what a send waits for."""

NOTHING_NEW = "Nothing to send: write a message below @You: first."


class NotSentError(FlemmaError):
    """A send is refused; the message for the user has its own severity."""

    def __init__(self, message: str, level: Level) -> None:
        super().__init__(message)
        self.level = level


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that can leave."""

    sending: Sending
    model: Model
    names: WireNames
    used_files: Mapping[str, str]
    credential: CredentialRequest | None


class Preparation:
    """Prepares the sends of one buffer."""

    def __init__(self, services: Services, buffer_id: int) -> None:
        self._services = services
        self._buffer_id = buffer_id
        self._used_files: Mapping[str, str] = {}
        self._warned: set[str] = set()
        self._drops_thinking = False

    def drop_thinking(self) -> None:
        """The service refused thinking whose prefix was edited: leave it out from now on."""
        self._drops_thinking = True

    def sent(self, prepared: Prepared) -> None:
        """The request left: what it included is what later ones are compared with."""
        self._used_files = prepared.used_files

    async def prepare(
        self, document: Document, settings: BufferSettings, path: str | None
    ) -> Prepared:
        """Prepare a send. Raises :class:`NotSentError` when it must not happen."""
        provider = self._services.providers.get(settings.config.provider)
        built = self._build(document, settings, path)
        self._check(document, settings, built, path)
        base = self._services.place(path).directory
        resolved = resolve_parameters(settings.config, provider, base)
        parameters = replace(resolved.parameters, drop_mismatched_thinking=self._drops_thinking)
        self._warn(resolved.warnings)
        definitions = self._services.tools.selected(settings.tool_names)
        names = WireNames([definition.name for definition in definitions])
        tools = tuple(
            WireTool(tool.name, tool.description, tool.input_schema, tool.strict)
            for tool in sent_tools(definitions, names)
        )
        credential = provider.credential()
        sending = Sending(
            provider=provider,
            conversation=built.conversation,
            parameters=parameters,
            tools=tools,
            secret=await self._secret(credential),
            environment=dict(self._services.environment),
        )
        return Prepared(sending, resolved.model, names, built.used_files, credential)

    def _build(
        self, document: Document, settings: BufferSettings, path: str | None
    ) -> BuiltConversation:
        tools = self._services.tools
        templates = self._services.template_reader.evaluation(
            path, self._buffer_id, settings.variables, settings.tool_names
        )
        return build(document, templates, lambda name: tools.has_capability(name, "emits_template"))

    def _check(
        self,
        document: Document,
        settings: BufferSettings,
        built: BuiltConversation,
        path: str | None,
    ) -> None:
        problems = [
            *settings.diagnostics,
            *document.diagnostics(),
            *lint(document),
            *built.diagnostics,
            *drifted(self._used_files, built.used_files),
        ]
        report = diagnostics_report(_unique(problems), document, path)
        if report is not None and report.blocked:
            raise NotSentError(report.text, Level.ERROR)
        if built.emptiness is not None:
            raise NotSentError(built.emptiness.value, Level.WARN)
        if _ends_in_an_empty_prompt(document, built):
            raise NotSentError(NOTHING_NEW, Level.INFO)
        if report is not None:
            self._services.screen.notify(report.text, Level.WARN)

    def _warn(self, warnings: tuple[str, ...]) -> None:
        for warning in warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self._services.screen.notify(warning, Level.WARN)

    async def _secret(self, credential: CredentialRequest | None) -> str | None:
        if credential is None:
            return None
        notice = self._services.tasks.spawn(
            self._slow_notice(credential), f"notice about {credential.service}"
        )
        try:
            return await self._services.credentials.get(credential)
        finally:
            notice.cancel()

    async def _slow_notice(self, credential: CredentialRequest) -> None:
        await self._services.clock.sleep(SLOW_CREDENTIAL)
        self._services.screen.notify(f"Resolving {credential.description}…", Level.WARN)


def _unique(problems: list[Diagnostic]) -> list[Diagnostic]:
    """Drop what two stages report alike; errors come first."""
    seen = dict.fromkeys(replace(problem, role=None) for problem in problems)
    return sorted(seen, key=lambda problem: problem.severity is not Severity.ERROR)


def _ends_in_an_empty_prompt(document: Document, built: BuiltConversation) -> bool:
    """Tell whether the user added nothing since the model's last message.

    A chat that ends in the model's own unfinished message is continued; one that ends in an empty
    prompt behind a finished message has nothing to say.
    """
    last = document.messages[-1] if document.messages else None
    answered = built.conversation.messages[-1].role is Role.ASSISTANT
    return last is not None and last.role == "user" and answered
