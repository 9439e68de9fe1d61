"""Commands about what requests cost (spec: behaviour 12.9)."""

from typing import Protocol

from flemma.app.commands.invocation import CommandDefinition, CommandError, Invocation
from flemma.app.usage import RequestRecord, UsageLedger


class UsageDisplay(Protocol):
    """Shows what a request used."""

    def show(self, buffer_id: int, record: RequestRecord) -> None:
        """Show it in the windows of a chat."""
        ...


class UsageCommands:
    """Shows usage."""

    def __init__(self, ledger: UsageLedger, display: UsageDisplay) -> None:
        self._ledger = ledger
        self._display = display

    def definitions(self) -> tuple[CommandDefinition, ...]:
        """Return the commands."""
        return (CommandDefinition("usage:recall", self.recall),)

    async def recall(self, invocation: Invocation) -> None:
        """Show the latest request of this chat once more."""
        buffer = invocation.chat.buffer
        record = self._ledger.latest(buffer.path, buffer.id)
        if record is None:
            raise CommandError("No usage data for this buffer.")
        self._display.show(buffer.id, record)
