"""Commands about the chat: send, cancel, format, autopilot, sandbox."""

from flemma.app.commands.invocation import CommandDefinition, Invocation
from flemma.app.commands.tools import cancel_event
from flemma.app.services import Services
from flemma.app.session import ChatSession
from flemma.app.turn import SendDirectly, SendPressed
from flemma.chat.edits import TOOL_NAMES_NOTICE, migrate
from flemma.chat.modeline import Modeline, parse_modeline
from flemma.config.layers import Layer, Op, Operation
from flemma.ports.editor import ExCommands, Level

BEFORE, AFTER = "on_request_start", "on_request_complete"
SEND_ARGUMENTS = (f"{BEFORE}=", f"{AFTER}=")
ENABLED = ("tools", "autopilot", "enabled")


class ChatCommands:
    """What the user does with a chat."""

    def __init__(self, services: Services, ex_commands: ExCommands) -> None:
        self._services = services
        self._ex_commands = ex_commands

    def definitions(self) -> tuple[CommandDefinition, ...]:
        """Return the commands."""
        return (
            CommandDefinition("autopilot:disable", self.disable_autopilot),
            CommandDefinition("autopilot:enable", self.enable_autopilot),
            CommandDefinition("cancel", self.cancel),
            CommandDefinition("format", self.format),
            CommandDefinition("sandbox:disable", self.disable_sandbox),
            CommandDefinition("sandbox:enable", self.enable_sandbox),
            CommandDefinition("send", self.send, arguments=(SEND_ARGUMENTS,)),
        )

    async def send(self, invocation: Invocation) -> None:
        """Do the next step (by key), or send at once (`:Flemma send`)."""
        session = invocation.chat
        if invocation.key:
            session.post(SendPressed())
            return
        if session.is_idle:
            self._run_around(session, parse_modeline(invocation.arguments))
        session.post(SendDirectly())

    def _run_around(self, session: ChatSession, arguments: Modeline) -> None:
        """Run the user's command before the request, and the other when all is done."""
        run, number = self._ex_commands.run, session.buffer.id
        given = dict(arguments.keywords)
        before, after = given.get(BEFORE), given.get(AFTER)
        if isinstance(before, str):
            run(number, before)
        if isinstance(after, str):
            session.when_settled(lambda _: run(number, after))

    async def cancel(self, invocation: Invocation) -> None:
        """Stop what is under way."""
        session = invocation.chat
        session.post(cancel_event(session, invocation.line))

    async def format(self, invocation: Invocation) -> None:
        """Bring an old file up to date (spec: behaviour 1.12)."""
        session = invocation.chat
        migration = migrate(session.buffer.document)
        if not migration.edits:
            self._services.screen.notify("Nothing to format.", Level.INFO)
            return
        await session.buffer.edit(lambda document: migrate(document).edits)
        if migration.renames_tools:
            self._services.screen.notify(TOOL_NAMES_NOTICE, Level.WARN)
        await session.auto_write()

    async def enable_autopilot(self, invocation: Invocation) -> None:
        """Let approved tools run and answers be sent without a key press."""
        del invocation
        self._set_autopilot(enabled=True)

    async def disable_autopilot(self, invocation: Invocation) -> None:
        """Wait for a key before each step."""
        del invocation
        self._set_autopilot(enabled=False)

    def _set_autopilot(self, *, enabled: bool) -> None:
        operation = Operation(Op.SET, ENABLED, enabled)
        self._services.settings.extend_layer(Layer.RUNTIME, (operation,))
        self._services.screen.event("config:updated", {})
        word = "enabled" if enabled else "disabled"
        self._services.screen.notify(f"Autopilot {word}", Level.INFO)

    async def enable_sandbox(self, invocation: Invocation) -> None:
        """Confine commands for the rest of the session. Raises when no backend can be had."""
        session = invocation.chat
        options = session.contexts.sandbox_options(await session.settings())
        message = await self._services.sandboxes.enable(options)
        self._services.screen.event("config:updated", {})
        self._services.screen.notify(message, Level.INFO)

    async def disable_sandbox(self, invocation: Invocation) -> None:
        """Let commands run unconfined for the rest of the session."""
        del invocation
        message = self._services.sandboxes.disable()
        self._services.screen.event("config:updated", {})
        self._services.screen.notify(message, Level.INFO)
