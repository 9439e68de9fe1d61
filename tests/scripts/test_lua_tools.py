"""What Lua knows of the built-in tools is generated."""

from scripts.generate_lua_tools import FILE, render


def test_the_generated_file_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == render()
