"""The picture of the README is drawn from cells; it must be valid and put text where it was."""

from xml.etree import ElementTree

import pytest

from scripts.svg import CELL_WIDTH, MARGIN, to_svg
from tests.support.screen import Screen

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*cells: list[object]) -> ElementTree.Element:
    screen = Screen(width=20, height=2)
    screen.redraw(
        [
            ["default_colors_set", [0xEEEEEE, 0x111111, 0, 0, 0]],
            ["hl_attr_define", [7, {"foreground": 0xFF0000, "bold": True}, {}, []]],
            ["hl_attr_define", [8, {"reverse": True}, {}, []]],
            ["grid_line", [1, 1, 2, list(cells), False]],
        ]
    )
    return ElementTree.fromstring(to_svg(screen, "a <title>"))


def test_text_keeps_its_column_colour_and_characters():
    picture = drawn(["<", 7], ["&"], [">"])
    [text] = picture.iter(f"{SVG}text")
    assert text.text == "<&>"
    assert float(text.attrib["x"]) == MARGIN + 2 * CELL_WIDTH
    assert (text.attrib["fill"], text.attrib["font-weight"]) == ("#ff0000", "bold")


def test_a_run_of_one_character_is_repeated_and_reversed_colours_are_swapped():
    picture = drawn(["x", 8, 3])
    [text] = picture.iter(f"{SVG}text")
    [_, background] = picture.iter(f"{SVG}rect")
    assert (text.text, text.attrib["fill"]) == ("xxx", "#111111")
    assert background.attrib["fill"] == "#eeeeee"


def test_a_wide_character_takes_two_cells():
    picture = drawn(["日", 7], [""], ["a"])
    [text] = picture.iter(f"{SVG}text")
    assert text.text == "日a"
    assert float(text.attrib["textLength"]) == pytest.approx(3 * CELL_WIDTH)
