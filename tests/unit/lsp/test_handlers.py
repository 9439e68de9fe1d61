"""Hover and go to definition."""

import pytest

from flemma.chat.parser import parse
from flemma.conversation.references import Place
from flemma.lsp.handlers import Query, answer

CHAT = """\
```json
{"x": 1}
```
@System:
Rules: {{ include('rules/a b.md', x=1) }} and {{ include("urn:flemma:personality:p") }} {{ x }}

@You:
ä @./pic%20one.png, `code`

@Assistant:
**Tool Use:** `bash` (`c1`)
```json
{"command": "ls", "flemma.background": true}
```

**Tool Use:** `read` (`c2`)
```json
{"path": "a"}
```

@You:
**Tool Result:** `c1` (job=job_abc12 note=kept)
```
Running as a background job
```

**Tool Result:** `c2` (pending)
```
```

@Assistant:
<thinking anthropic:signature="xyz">
Hm
</thinking>

@You:
**Job Result:** `job_abc12`
```
out
more
```
"""
LINES = CHAT.split("\n")


def line_of(start: str) -> int:
    return next(number for number, line in enumerate(LINES) if line.startswith(start))


USE, USE_TWO = line_of("**Tool Use:** `bash`"), line_of("**Tool Use:** `read`")
RESULT, RESULT_TWO = line_of("**Tool Result:** `c1`"), line_of("**Tool Result:** `c2`")
JOB = line_of("**Job Result:**")


def ask(method: str, line: int, column: int = 0, text: str = CHAT, **states: str):
    place = Place("/chats/a.chat", "/chats", "/home/me")
    return answer(method, Query(parse(text), line, column, "file:///chats/a.chat", place, states))


def hover_text(line: int, column: int = 0, text: str = CHAT, **states: str) -> str:
    found = ask("hover", line, column, text, **states)
    assert found is not None
    return found["contents"]["value"]


def target(line: int, column: int = 0, text: str = CHAT) -> tuple[str, int] | None:
    found = ask("definition", line, column, text)
    return None if found is None else (found["uri"], found["range"]["start"]["line"])


def here(line: int) -> tuple[str, int]:
    return ("file:///chats/a.chat", line)


@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_a_jump_from_any_line_of_a_call_goes_to_its_result(offset: int):
    assert target(USE + offset) == here(RESULT)
    assert target(USE_TWO + offset) == here(RESULT_TWO)


def test_a_jump_from_a_result_goes_to_its_call():
    assert target(RESULT_TWO) == here(USE_TWO)


def test_a_jump_from_a_job_placeholder_goes_to_the_job_result_and_back():
    assert target(RESULT) == here(JOB)
    assert target(JOB + 2) == here(RESULT)


def test_a_placeholder_whose_job_is_still_running_leads_to_its_call():
    text = "\n".join(LINES[:JOB])
    assert target(RESULT, text=text) == here(USE)


def test_of_duplicate_results_the_first_is_the_target():
    """Acceptance 14."""
    text = CHAT + "\n\n" + "\n".join(LINES[RESULT_TWO : RESULT_TWO + 3]) + "\n"
    assert target(USE_TWO, text=text) == here(RESULT_TWO)


def test_references_and_includes_lead_to_their_files():
    """E-26; the column counts bytes."""
    reference, rules = line_of("ä @"), line_of("Rules")
    assert target(reference, 3) == ("file:///chats/pic%20one.png", 0)
    assert target(reference, 2) is None
    assert target(rules, 10) == ("file:///chats/rules/a%20b.md", 0)


def test_personalities_and_plain_expressions_lead_nowhere():
    rules = LINES[line_of("Rules")]
    for code in ('{{ include("urn', "{{ x }}"):
        assert target(line_of("Rules"), rules.index(code) + 3) is None


def test_text_thinking_and_markers_lead_nowhere():
    for line in (0, line_of("@You:"), line_of("<thinking"), len(LINES) - 1):
        assert target(line) is None


def test_a_hover_describes_the_call_at_the_cursor():
    assert hover_text(USE + 2) == (
        f"```\ntool_use [{USE + 1}-{USE + 4}]\n  id: c1\n  name: bash\n"
        "  input.command: ls\n  input.flemma.background: true\n```"
    )


@pytest.mark.parametrize("state", ["pending", "completed", "error"])
def test_a_hover_on_a_job_placeholder_tells_its_state_first(state: str):
    text = "\n".join(LINES[:JOB])
    value = hover_text(RESULT, text=text, job_abc12=state)
    assert value.startswith(f"Job `job_abc12`: {state}\n\n```\ntool_result [{RESULT + 1}")
    assert "meta: job=job_abc12 note=kept" in value


def test_the_delivered_result_decides_over_what_the_host_remembers():
    assert hover_text(RESULT, job_abc12="pending").startswith("Job `job_abc12`: completed")
    failed = CHAT.replace("`job_abc12`\n", "`job_abc12` (error)\n")
    assert hover_text(RESULT, text=failed).startswith("Job `job_abc12`: error")


def test_a_job_nobody_knows_is_an_error():
    assert hover_text(RESULT, text="\n".join(LINES[:JOB])).startswith("Job `job_abc12`: error")


def test_a_hover_falls_back_to_the_message_and_to_the_frontmatter():
    assert hover_text(1) == "```\nfrontmatter [1-3]\n  language: json\n```"
    message = hover_text(line_of("@Assistant:"))
    assert "role: assistant" in message
    assert f"tool_use [{USE_TWO + 1}-{USE_TWO + 4}] read (c2)" in message


def test_a_hover_covers_the_lines_of_what_it_describes():
    found = ask("hover", JOB + 2)
    assert found is not None
    assert found["range"]["start"]["line"] == JOB
    assert found["range"]["end"]["line"] == JOB + 5
    assert "content: out (+1 lines)" in found["contents"]["value"]


def test_backticks_in_a_description_do_not_end_its_fence():
    text = "@You:\nsome ```` ticks"
    assert hover_text(1, text=text) == "`````\ntext [2]\n  text: some ```` ticks\n`````"


@pytest.mark.parametrize(("line", "text"), [(-1, CHAT), (999, CHAT), (0, ""), (0, "stray\n@You:")])
def test_where_nothing_is_there_is_no_answer(line: int, text: str):
    assert ask("hover", line, text=text) is None
    assert ask("definition", line, text=text) is None


def test_other_methods_have_no_answer():
    assert ask("rename", USE) is None


def test_no_position_of_a_chat_raises():
    """V-10."""
    for line in range(len(LINES)):
        for column in (0, 1, 2, 7, 200):
            ask("hover", line, column)
            ask("definition", line, column)
