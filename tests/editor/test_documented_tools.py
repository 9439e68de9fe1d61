"""The examples of docs/tools.md run as they stand there."""

import re
from pathlib import Path

from tests.editor.tool_support import DONE, approved, calls, conversation, result_text, send
from tests.support.nvim import ROOT

PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_every_example_of_the_page_runs(tmp_path: Path) -> None:
    lua = [block for block in blocks("lua") if ".register(" in block]
    python = []
    for number, source in enumerate(blocks("python")):
        path = tmp_path / f"example{number}.py"
        path.write_text(source)
        python.append(str(path))
    assert (len(lua), len(python)) == (4, 4)
    wanted = [
        ("count", "word_count", {"label": "l", "path": "words.txt"}),
        ("check", "slow_check", {}),
        ("shout", "shout", {"text": "hello"}),
        ("make", "make", {"target": "all"}),
        ("deploy", "deploy", {"place": "staging"}),
        ("found", "my_server.two", {}),
    ]
    with conversation(
        [calls(*wanted), DONE],
        lua="\n".join(f"do\n{block}\nend" for block in lua),
        options=approved(modules=python),
        frontmatter="```ini\nwho = Ada\n```",
        prompt="I am {{ who }}.",
    ) as (editor, server):
        (editor.directory / "words.txt").write_text("three little words")
        (editor.directory / "Makefile").write_text("all:\n\t@echo built\ncheck:\n\t@echo fine\n")
        send(editor)
        editor.wait_for_text("All done.")
        assert {
            identifier: result_text(server, identifier).strip() for identifier, *_ in wanted
        } == {
            "count": "3 words",
            "check": "fine",
            "shout": "HELLO",
            "make": "built",
            "deploy": "deployed to staging",
            "found": "two",
        }
        assert b"I am Ada." in server.requests[0].body
        assert editor.notifications() == []
