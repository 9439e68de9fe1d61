"""Commands about what requests cost (spec: behaviour 12.9)."""

from flemma.app.commands.invocation import CommandDefinition, CommandError, Invocation
from flemma.app.services import Services
from flemma.app.usage import RequestRecord, UsageLedger
from flemma.models.formats import format_money, format_number
from flemma.models.pricing import cache_percent
from flemma.ports.editor import Level


class UsageCommands:
    """Shows usage."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def definitions(self) -> tuple[CommandDefinition, ...]:
        """Return the commands."""
        return (CommandDefinition("usage:recall", self.recall),)

    async def recall(self, invocation: Invocation) -> None:
        """Show the latest request of this chat, and the session's sum."""
        buffer = invocation.chat.buffer
        record = self._services.usage.latest(buffer.path, buffer.id)
        if record is None:
            raise CommandError("No usage data for this buffer.")
        self._services.screen.notify(usage_line(record, self._services.usage), Level.INFO)


def usage_line(record: RequestRecord, ledger: UsageLedger) -> str:
    """Return one line about a request and the session (spec: behaviour 12.9)."""
    usage = record.usage
    request = [f"{format_number(usage.total_input)}↑", f"{format_number(usage.output)}↓"]
    if usage.thinking:
        request.append(f"{format_number(usage.thinking)}⁂")
    percent = cache_percent(usage)
    if percent is not None:
        request.insert(0, f"Cache {percent}%")
    if record.cost is not None:
        request.insert(0, format_money(record.cost))
    parts = [f"{record.model} ({record.provider})", " ".join(request)]
    parts.append(f"Σ{len(ledger.records)} {format_money(ledger.cost)}")
    return " │ ".join(parts)
