"""The code in the user's documentation of settings and approval, run in a real Neovim."""

from tests.editor.approval_support import make_calls, outcomes
from tests.editor.chats import StartChat, bash
from tests.editor.settings_support import DONE, ask, with_block
from tests.support.nvim import ROOT


def code(page: str, language: str, part: str) -> str:
    """Return the code block of a page that has ``part`` in it."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = [each.split("\n```")[0] for each in text.split(f"```{language}\n")[1:]]
    (found,) = [block for block in blocks if part in block]
    return found


def test_the_resolver_in_lua(start_chat: StartChat):
    friday = 'os.date = function() return "Fri" end\n'
    lua = friday + code("approval.md", "lua", "team.policy")
    chat = make_calls(start_chat, bash("list", "ls"), bash("ship", "make deploy"), lua=lua)
    assert outcomes(chat) == {"list": "ask", "ship": "deny"}


def test_the_resolver_in_python(start_chat: StartChat):
    chat = make_calls(
        start_chat,
        bash("list", "ls"),
        bash("ship", "make deploy"),
        tools={"modules": ["team.py"]},
        before=lambda editor: (editor.directory / "team.py").write_text(
            code("approval.md", "python", "register_resolver")
        ),
    )
    assert outcomes(chat) == {"list": "ask", "ship": "deny"}


def test_the_language_in_lua(start_chat: StartChat):
    chat = start_chat(
        [DONE],
        text=with_block("model = claude-haiku-4-5", "ini", prompt="In {{ folder }}"),
        lua=code("configuration.md", "lua", "frontmatter"),
    )
    assert ask(chat)["model"] == "claude-haiku-4-5"
    assert f"In {chat.path.parent}" in chat.history()


def test_the_language_in_python(start_chat: StartChat):
    chat = start_chat(
        [DONE],
        text=with_block('who = "you"\n[flemma]\nmax_tokens = 4321', "toml", prompt="{{ who }}!"),
        tools={"modules": ["languages.py"]},
        before=lambda editor: (editor.directory / "languages.py").write_text(
            code("configuration.md", "python", "register_frontmatter")
        ),
    )
    assert ask(chat)["max_tokens"] == 4321
    assert "you!" in chat.history()
