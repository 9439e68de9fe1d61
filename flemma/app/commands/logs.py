"""Commands about the log file (spec: behaviour 13.10)."""

from typing import Protocol

from flemma.app.commands.invocation import CommandDefinition, CommandError, Invocation
from flemma.app.services import Services
from flemma.ports.editor import Level

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")


class LogFile(Protocol):
    """The host's log file."""

    @property
    def path(self) -> str:
        """Absolute path."""
        ...

    @property
    def enabled(self) -> bool:
        """Whether more than errors is written."""
        ...

    def enable(self, level: str) -> None:
        """Write everything from ``level`` up."""
        ...

    def disable(self) -> None:
        """Write errors only."""
        ...

    def open(self) -> None:
        """Show the file to the user."""
        ...


class LogCommands:
    """Turns logging on and off."""

    def __init__(self, services: Services, log_file: LogFile) -> None:
        self._services = services
        self._log_file = log_file

    def definitions(self) -> tuple[CommandDefinition, ...]:
        """Return the commands."""
        return (
            CommandDefinition("logging:disable", self.disable),
            CommandDefinition("logging:enable", self.enable, (LEVELS,)),
            CommandDefinition("logging:open", self.open),
        )

    async def enable(self, invocation: Invocation) -> None:
        """Write a log from a level up."""
        level = invocation.arguments.strip().upper() or "DEBUG"
        if level not in LEVELS:
            raise CommandError(
                f"Invalid log level '{invocation.arguments.strip()}'. "
                f"Valid levels: {', '.join(LEVELS)}"
            )
        self._log_file.enable(level)
        text = f"Logging enabled (level: {level}) — {self._log_file.path}"
        self._services.screen.notify(text, Level.INFO)

    async def disable(self, invocation: Invocation) -> None:
        """Write errors only."""
        del invocation
        self._log_file.disable()
        self._services.screen.notify("Logging disabled", Level.INFO)

    async def open(self, invocation: Invocation) -> None:
        """Open the log file."""
        del invocation
        if not self._log_file.enabled:
            self._services.screen.notify("Logging is currently disabled", Level.WARN)
        self._log_file.open()
