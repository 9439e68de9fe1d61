"""The table of all `:Flemma` commands, and how a name is looked up in it."""

from collections.abc import Iterable, Sequence

from flemma.app.commands.invocation import CommandDefinition, CommandError, Invocation
from flemma.chat.query import NoToolAtCursor
from flemma.errors import FlemmaError
from flemma.ports.editor import Level, Screen
from flemma.text.suggest import closest


class CommandTable:
    """All commands by name."""

    def __init__(self, definitions: Iterable[CommandDefinition], screen: Screen) -> None:
        self._commands = {definition.name: definition for definition in definitions}
        self._screen = screen

    @property
    def definitions(self) -> Sequence[CommandDefinition]:
        """All commands, by name."""
        return [self._commands[name] for name in self.names]

    @property
    def names(self) -> list[str]:
        """All names, sorted; those of Lua (moving the cursor) included."""
        return sorted(self._commands)

    async def run(self, invocation: Invocation) -> None:
        """Carry out a command; what cannot be done is told to the user."""
        try:
            await self._find(invocation.name).run(invocation)
        except (CommandError, NoToolAtCursor) as error:
            self._screen.notify(error.message, Level.WARN)
        except FlemmaError as error:
            self._screen.notify(str(error), Level.ERROR)

    def complete(self, line: str) -> list[str]:
        """Complete the arguments of a command line, `Flemma <command> <arguments…>`."""
        words = line.split()
        lead = "" if line.endswith(" ") else words[-1] if words else ""
        given = words[1:] if line.endswith(" ") else words[1:-1]
        found = self._commands.get(given[0]) if given else None
        if found is None:
            return [name for name in self.names if name.startswith(lead)]
        if found.complete is not None:
            candidates = found.complete(given[1:])
        else:
            position = min(len(given), len(found.arguments)) - 1
            candidates = found.arguments[position] if position >= 0 else ()
        return [candidate for candidate in candidates if candidate.startswith(lead)]

    def _find(self, name: str) -> CommandDefinition:
        found = self._commands.get(name)
        if found is not None:
            return found
        if not name:
            raise CommandError(f"Available commands → {', '.join(self.names)}")
        members = [each.partition(":")[2] for each in self.names if each.startswith(f"{name}:")]
        if members:
            raise CommandError(f"'{name}' expects a sub-command ({', '.join(members)})")
        near = closest(name, self.names)
        hint = f". Did you mean '{near}'?" if near else ""
        raise CommandError(f"Unknown command '{name}'{hint}")
