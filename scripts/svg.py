"""Draw the screen of a Neovim as SVG, for the README."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape

from tests.support.screen import Cell, Screen

CELL_WIDTH = 8.4
CELL_HEIGHT = 18
BASELINE = 13.5
FONT_SIZE = 14
MARGIN = 14
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def to_svg(screen: Screen, title: str) -> str:
    """Return ``screen`` as an SVG document; ``title`` is its text for who cannot see it."""
    width = screen.width * CELL_WIDTH + 2 * MARGIN
    height = screen.height * CELL_HEIGHT + 2 * MARGIN
    shapes = "\n".join(
        shape for row, cells in enumerate(screen.cells) for shape in _row(screen, row, cells)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="{FONTS}" font-size="{FONT_SIZE}" role="img">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{_colour(screen.background)}"/>\n'
        f"{shapes}\n</svg>\n"
    )


def _row(screen: Screen, row: int, cells: Sequence[Cell]) -> Iterator[str]:
    top = MARGIN + row * CELL_HEIGHT
    column = 0
    for highlight, group in groupby(cells, key=lambda cell: cell.highlight):
        run = list(group)
        text = "".join(cell.text for cell in run)
        style = _Style(screen, screen.highlights.get(highlight, {}))
        left, width = MARGIN + column * CELL_WIDTH, len(run) * CELL_WIDTH
        if style.background != screen.background:
            # Half a pixel more, so that no seam shows between rows.
            yield (
                f'<rect x="{left:g}" y="{top:g}" width="{width:g}" '
                f'height="{CELL_HEIGHT + 0.5:g}" fill="{_colour(style.background)}"/>'
            )
        if text.strip():
            yield _text(text, left, top + BASELINE, width, style)
        column += len(run)


class _Style:
    """Colours and font of a highlight, with Neovim's defaults filled in."""

    def __init__(self, screen: Screen, attributes: dict[str, Any]) -> None:
        self.foreground: int = attributes.get("foreground", screen.foreground)
        self.background: int = attributes.get("background", screen.background)
        if attributes.get("reverse"):
            self.foreground, self.background = self.background, self.foreground
        self.bold = bool(attributes.get("bold"))
        self.italic = bool(attributes.get("italic"))
        self.underline = bool(attributes.get("underline"))


def _text(text: str, left: float, baseline: float, width: float, style: _Style) -> str:
    indent = len(text) - len(text.lstrip(" "))
    shown = text.strip(" ")
    attributes = [
        f'x="{left + indent * CELL_WIDTH:g}"',
        f'y="{baseline:g}"',
        f'fill="{_colour(style.foreground)}"',
        # The reader's font may be wider or narrower: cells stay where Neovim put them.
        f'textLength="{width - (len(text) - len(shown)) * CELL_WIDTH:g}"',
        *(['font-weight="bold"'] if style.bold else []),
        *(['font-style="italic"'] if style.italic else []),
        *(['text-decoration="underline"'] if style.underline else []),
    ]
    return f'<text xml:space="preserve" {" ".join(attributes)}>{escape(shown)}</text>'


def _colour(value: int) -> str:
    return f"#{value:06x}"
