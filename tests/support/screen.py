"""The screen of a Neovim, rebuilt from the events it sends to an attached UI (``ext_linegrid``)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """One cell: its text (empty in the second half of a wide character) and its highlight."""

    text: str = " "
    highlight: int = 0


@dataclass(slots=True)
class Screen:
    """What a user would see: cells, highlight attributes, default colours, the cursor."""

    width: int
    height: int
    cells: list[list[Cell]] = field(default_factory=list[list[Cell]])
    highlights: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    foreground: int = 0xFFFFFF
    background: int = 0x000000
    cursor: tuple[int, int] = (0, 0)
    flushes: int = 0
    """Times Neovim said that the screen is consistent: one for each redraw."""

    def __post_init__(self) -> None:
        self._resize(self.width, self.height)

    def lines(self) -> list[str]:
        """Return the rows as text, without trailing blanks."""
        return ["".join(cell.text for cell in row).rstrip() for row in self.cells]

    def text(self) -> str:
        """Return the rows as one text."""
        return "\n".join(self.lines())

    def redraw(self, batches: Iterable[Sequence[Any]]) -> None:
        """Take the arguments of one ``redraw`` notification."""
        for name, *calls in batches:
            for arguments in calls:
                self._apply(name, arguments)

    def _apply(self, name: str, arguments: Sequence[Any]) -> None:
        match name, arguments:
            case "grid_line", [_, row, column, cells, *_]:
                self._draw(row, column, cells)
            case "grid_scroll", [_, top, bottom, left, right, rows, *_]:
                self._scroll(range(top, bottom), slice(left, right), rows)
            case "grid_cursor_goto", [_, row, column]:
                self.cursor = (row, column)
            case "grid_clear", _:
                self._resize(self.width, self.height)
            case "grid_resize", [_, width, height]:
                self._resize(width, height)
            case "hl_attr_define", [identifier, attributes, *_]:
                self.highlights[identifier] = attributes
            case "default_colors_set", [foreground, background, *_]:
                self.foreground, self.background = foreground, background
            case "flush", _:
                self.flushes += 1
            case _:
                pass

    def _resize(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cells = [[Cell()] * width for _ in range(height)]

    def _draw(self, row: int, column: int, cells: Iterable[Sequence[Any]]) -> None:
        highlight = 0
        for text, *rest in cells:
            highlight = rest[0] if rest else highlight
            repeat = rest[1] if len(rest) > 1 else 1
            self.cells[row][column : column + repeat] = [Cell(text, highlight)] * repeat
            column += repeat

    def _scroll(self, area: range, columns: slice, rows: int) -> None:
        before = {row: self.cells[row][columns] for row in area}
        for row in area:
            if row + rows in before:
                self.cells[row][columns] = before[row + rows]
