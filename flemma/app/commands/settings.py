"""Commands about settings: status, why, switch (spec: behaviour 12.10, 12.11)."""

from collections.abc import Sequence

from flemma.app.calls import calls_of
from flemma.app.commands.invocation import CommandDefinition, CommandError, Invocation
from flemma.app.parameters import resolve_parameters
from flemma.app.services import Services
from flemma.app.session import ChatSession
from flemma.app.settings import BufferSettings
from flemma.app.status import StatusFacts, status_page
from flemma.app.workspace import Workspace
from flemma.approval.decision import Outlook, explain
from flemma.chat.query import tool_at
from flemma.config.layers import Layer
from flemma.config.switch import parse_switch, switch_operations, switchable
from flemma.errors import ConfigError
from flemma.models.catalogue import catalogue
from flemma.ports.editor import Level, Page, Pages

HIGH_COST = "⚠ Billed at ${input:g} input / ${output:g} output per MTok"


class SettingsCommands:
    """Shows and changes what a chat is configured to."""

    def __init__(self, services: Services, workspace: Workspace, pages: Pages) -> None:
        self._services = services
        self._workspace = workspace
        self._pages = pages
        self._shown: tuple[ChatSession, bool] | None = None

    def definitions(self) -> tuple[CommandDefinition, ...]:
        """Return the commands."""
        return (
            CommandDefinition("autopilot:status", self.autopilot_status),
            CommandDefinition("sandbox:status", self.sandbox_status),
            CommandDefinition("status", self.status, (("verbose",),)),
            CommandDefinition("switch", self.switch, complete=self.complete_switch),
            CommandDefinition("why", self.why),
        )

    async def status(self, invocation: Invocation) -> None:
        """Show the status page."""
        words = invocation.arguments.split()
        if words not in ([], ["verbose"]):
            raise CommandError(f"'status' takes 'verbose' or nothing, not '{' '.join(words)}'")
        await self._show(invocation, None, verbose=bool(words))

    async def autopilot_status(self, invocation: Invocation) -> None:
        """Show the status page at autopilot."""
        await self._show(invocation, "autopilot", verbose=False)

    async def sandbox_status(self, invocation: Invocation) -> None:
        """Show the status page at the sandbox."""
        await self._show(invocation, "sandbox", verbose=False)

    async def update(self) -> None:
        """Renew the page if it is on the screen: settings or the state of the chat changed."""
        if self._shown is None:
            return
        session, verbose = self._shown
        is_open = self._workspace.get(session.buffer.id) is session
        page = status_page(await self._facts(session, verbose=verbose)) if is_open else None
        if page is None or not await self._pages.update(page):
            self._shown = None

    async def why(self, invocation: Invocation) -> None:
        """Explain the decision about the call at the cursor, step by step."""
        session = invocation.chat
        key = tool_at(session.buffer.document, invocation.line).key
        call = next((each for each in calls_of(session.buffer.document) if each.key == key), None)
        if call is None:
            raise CommandError(f"Tool {key.id} cannot be explained: its input is not readable.")
        made = session.approvals.remembered(key)
        settings = await session.settings()
        decision = made or await session.approvals.decision(call, settings)
        lines = explain(call.name, decision)
        if made is None:
            lines.append("This is what would be decided now; the call was made in another session.")
        self._pages.show(Page("flemma://why", "flemma-status", tuple(lines)))

    async def switch(self, invocation: Invocation) -> None:
        """Use another provider, model or preset from now on."""
        text = invocation.arguments
        if not text.strip():
            text = await self._pick()
        settings = self._services.settings
        shared = settings.shared()
        switch = parse_switch(text, shared.presets, self._services.providers.names())
        operations, errors = switch_operations(switch, shared.config.provider, settings.known)
        if errors:
            raise ConfigError("\n".join(error.message for error in errors), path="switch")
        settings.extend_layer(Layer.RUNTIME, operations)
        self._services.credentials.invalidate_all()
        self._services.screen.event("config:updated", {})
        lines = await self._switched(invocation.session)
        self._services.screen.notify("\n".join([*lines, *switch.warnings]), Level.INFO)

    def complete_switch(self, words: Sequence[str]) -> list[str]:
        """Return candidates for the next word of a switch."""
        shared = self._services.settings.shared()
        if not words:
            return [*switchable(shared.presets), *self._services.providers.names()]
        first = words[0]
        provider: str | None = first
        if first.startswith("$"):
            preset = shared.presets.get(first)
            provider = preset.provider if preset else None
        known = catalogue(provider) if provider else None
        return sorted(known.models) if known and len(words) == 1 else []

    async def _pick(self) -> str:
        providers = self._services.providers.names()
        index = await self._pages.choose("Select Provider:", providers)
        if index is None:
            raise CommandError("Provider selection cancelled")
        provider = providers[index]
        known = catalogue(provider)
        models = sorted(known.models) if known else []
        if not models:
            return provider
        index = await self._pages.choose(f"Select Model for {provider}:", models)
        if index is None:
            raise CommandError("Model selection cancelled")
        return f"{provider} {models[index]}"

    async def _switched(self, session: ChatSession | None) -> list[str]:
        shared = self._services.settings.shared().config
        provider = self._services.providers.get(shared.provider)
        resolved = resolve_parameters(shared, provider, self._services.working_directory)
        lines = [f"Switched to '{provider.name}' with model '{resolved.parameters.model}'."]
        lines += [f"⚠ {warning}" for warning in resolved.warnings]
        prices = resolved.model.prices
        limit = shared.ui.pricing.high_cost_threshold
        if (
            prices is not None
            and shared.ui.pricing.enabled
            and prices.input + prices.output > limit
        ):
            lines.append(HIGH_COST.format(input=prices.input, output=prices.output))
        if session is not None:
            own = (await session.settings()).config
            if (own.provider, own.model) != (shared.provider, shared.model):
                lines.append(
                    f"• This buffer uses {own.provider} {own.model or ''}".rstrip()
                    + " (frontmatter)"
                )
        return lines

    async def _show(self, invocation: Invocation, section: str | None, *, verbose: bool) -> None:
        session = invocation.session
        if session is None and self._shown is not None:
            # Asked from the page itself: it is about the same chat.
            session = self._shown[0]
        session = session or invocation.chat
        self._shown = (session, verbose)
        self._pages.show(status_page(await self._facts(session, verbose=verbose), section))

    async def _facts(self, session: ChatSession, *, verbose: bool) -> StatusFacts:
        services = self._services
        settings = await session.settings()
        parameters, problem, known, model = None, None, None, settings.config.model or "–"
        try:
            provider = services.providers.get(settings.config.provider)
            base = services.place(session.buffer.path).directory
            resolved = resolve_parameters(settings.config, provider, base)
            parameters, known, model = resolved.parameters, resolved.model, resolved.model.name
        except ConfigError as error:
            problem = error.message
        offered = services.tools.selected(settings.tool_names)
        names = {tool.name for tool in offered}
        return StatusFacts(
            settings=settings,
            provider=settings.config.provider,
            model=model,
            parameters=parameters,
            parameters_error=problem,
            known=known,
            state=session.state,
            sandbox=await services.sandboxes.status(session.contexts.sandbox_options(settings)),
            tools=offered,
            disabled=[name for name in services.tools.names() if name not in names],
            outlooks=[
                (tool.name, await self._outlook(session, tool.name, settings)) for tool in offered
            ],
            loading=services.tool_sources.loading,
            verbose=verbose,
        )

    async def _outlook(
        self, session: ChatSession, tool_name: str, settings: BufferSettings
    ) -> Outlook:
        context = await session.approvals.context(tool_name, "", settings)
        return self._services.resolvers.outlook(tool_name, context)
