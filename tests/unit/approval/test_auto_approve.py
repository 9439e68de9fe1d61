"""`tools.auto_approve`: what it approves, and what the sandbox approves (acceptance 58 to 64)."""

import pytest

from flemma.approval.decision import Verdict
from flemma.config.auto_approve import approval_policy
from flemma.config.resolve import resolve
from tests.unit.approval.support import decide
from tests.unit.config.support import buffer, setup

APPROVE, ASK, DENY = Verdict.APPROVE, Verdict.REQUIRE_APPROVAL, Verdict.DENY


def auto(value: object) -> dict[str, object]:
    return {"tools": {"auto_approve": value}}


@pytest.mark.parametrize(
    ("options", "approved", "asked"),
    [
        ({}, "read write edit find grep ls flemma.jobs.status", "bash slack.post"),
        (auto(["$readonly"]), "read find grep ls", "write edit bash flemma.jobs.status"),
        (auto(["$nosuch", "ls"]), "ls", "read"),  # acceptance 58
        (auto(["flemma.*"]), "flemma.jobs.status flemma.", "flemmax flemma read"),  # 59
        (auto(["$readonly", "bash"]), "bash read", "write"),
        (auto(["*"]), "bash anything.at.all", ""),
        (auto(["sl*.p*t"]), "slack.post sl.a.pt", "slack.pos xslack.post"),
        (auto(["[a-z]ash"]), "[a-z]ash", "bash"),
        (auto([]), "", "read ls"),
        (auto(["+bash"]), "bash read", ""),
        (auto(["!write", "!ls"]), "read edit", "write ls"),
        (auto(["flmma.*"]), "", "flemma.jobs.status"),
    ],
)
def test_lists_presets_and_globs(options, approved, asked) -> None:
    for tool in approved.split():
        assert decide(tool, options=options).verdict is APPROVE, tool
    for tool in asked.split():
        assert decide(tool, options=options).verdict is ASK, tool


@pytest.mark.parametrize(
    ("code", "approved", "asked"),
    [
        # Acceptance 61: a member of a preset can be taken out.
        ('{} flemma.opt.tools.auto_approve:remove("write")', "read", "write"),
        ('{"$readonly"}', "read", "write"),
        ('{"$standard"} flemma.opt.tools.auto_approve:remove("write")', "read edit", "write bash"),
        ('{"$standard"} flemma.opt.tools.auto_approve:append("bash")', "bash read", ""),
        (
            '{"$standard"} flemma.opt.tools.auto_approve:remove("$readonly")',
            "write edit",
            "read ls",
        ),
        (
            '{"$standard"} flemma.opt.tools.auto_approve:remove("write"):append("write")',
            "write",
            "",
        ),
        (
            '{"slack.*", "bash"} flemma.opt.tools.auto_approve:remove("slack.send")',
            "slack.read",
            "slack.send",
        ),
        ('{"a.b", "a.c"} flemma.opt.tools.auto_approve:remove("a.*")', "", "a.b a.c"),
        ('{"bash"} flemma.opt.tools.auto_approve:prepend("$readonly")', "bash ls", "write"),
        ("nil", "", "read bash"),
    ],
)
def test_a_file_changes_the_policy_step_by_step(code, approved, asked) -> None:
    prefix = "" if code.startswith("{} ") else "flemma.opt.tools.auto_approve = "
    frontmatter = prefix + code.removeprefix("{} ")
    for tool in approved.split():
        assert decide(tool, frontmatter).verdict is APPROVE, tool
    for tool in asked.split():
        assert decide(tool, frontmatter).verdict is ASK, tool


def test_user_presets_replace_built_in_ones_and_unite() -> None:
    options = {
        "presets": {
            "$standard": {"auto_approve": ["ls"]},
            "$yolo": {"auto_approve": ["bash", "read"]},
        },
        "tools": {"auto_approve": ["$yolo", "$standard"]},
    }
    assert [decide(tool, options=options).verdict for tool in ("bash", "ls", "write")] == [
        APPROVE,
        APPROVE,
        ASK,
    ]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (True, APPROVE),
        (False, ASK),
        ("deny", DENY),
        (None, ASK),
        ("approve", ASK),
        (1, ASK),
    ],
)
def test_functions_of_python_answer_as_those_of_lua(answer, verdict) -> None:
    seen: list[object] = []

    def policy(*arguments: object) -> object:
        seen.extend(arguments)
        return answer

    decision = decide("read", options=auto(policy), tool_input={"path": "x"})
    assert decision.verdict is verdict
    assert seen == ["read", {"path": "x"}, {"bufnr": 3, "tool_id": "toolu_1"}]


LUA_POLICY = """
flemma.opt.tools.auto_approve = function(tool_name, input, ctx)
  if tool_name == "grep" then return true end
  if tool_name == "bash" and input.command:match("rm %-rf") then return "deny" end
  if tool_name == "bash" then return false end
  if tool_name == "broken" then error("no") end
  if tool_name == "endless" then while true do end end
end
"""


@pytest.mark.parametrize(
    ("tool", "command", "verdict", "reason"),
    [
        ("grep", "", APPROVE, "the auto_approve function returned true"),
        ("bash", "rm -rf /", DENY, 'the auto_approve function returned "deny"'),
        ("bash", "ls", ASK, "the auto_approve function returned false"),
        ("broken", "", ASK, "the auto_approve function failed: no"),
        ("endless", "", ASK, "the auto_approve function failed: took too long and was stopped"),
        ("other", "", ASK, "no resolver had an opinion"),
    ],
)
def test_a_lua_function_of_the_file_decides(tool, command, verdict, reason) -> None:
    decision = decide(tool, LUA_POLICY, tool_input={"command": command}, sandbox_problem=None)
    assert (decision.verdict, decision.reason) == (verdict, reason)


def test_list_operations_over_a_function_decide_before_it() -> None:
    options = auto(lambda *_: "deny")
    block = 'flemma.opt.tools.auto_approve:append("bash")'
    assert decide("bash", block, options).verdict is APPROVE
    assert decide("read", block, options).verdict is DENY


@pytest.mark.parametrize(
    ("frontmatter", "options", "problem", "verdict"),
    [
        # Acceptance 62.
        ("", {}, None, APPROVE),
        ('flemma.opt.tools.auto_approve:remove("bash")', {}, None, ASK),
        ('flemma.opt.tools.auto_approve:remove("*")', {}, None, ASK),
        ('flemma.opt.tools.auto_approve = {"ls"}', {}, None, ASK),
        ('flemma.opt.tools.auto_approve:set({"ls"})', {}, None, ASK),
        ('flemma.opt.tools.auto_approve:append("grep")', {}, None, APPROVE),
        ('flemma.opt.tools.auto_approve:remove("grep")', {}, None, APPROVE),
        ("", {"tools": {"auto_approve_sandboxed": False}}, None, ASK),
        ("", {}, "no backend", ASK),
        ("", {"tools": {"auto_approve": ["!bash"]}}, None, APPROVE),
    ],
)
def test_the_sandbox_approves_only_if_all_conditions_hold(
    frontmatter, options, problem, verdict
) -> None:
    decision = decide("bash", frontmatter, options, sandbox_problem=problem)
    assert decision.verdict is verdict
    assert (decision.resolver == "urn:flemma:approval:sandbox") == (verdict is APPROVE)


def test_the_sandbox_approves_no_tool_without_the_capability() -> None:
    assert decide("deploy", sandbox_problem=None).verdict is ASK


def test_require_approval_false_approves_the_rest_but_overrides_nothing() -> None:
    options = {"tools": {"require_approval": False}}
    assert decide("deploy", options=options).resolver == "urn:flemma:approval:catch-all"
    # Acceptance 64.
    strict = {"tools": {"require_approval": False, "auto_approve": lambda name, *_: name != "bash"}}
    assert decide("bash", options=strict, sandbox_problem=None).verdict is ASK
    assert decide("ls", options=strict).verdict is APPROVE
    denying = {"tools": {"require_approval": False, "auto_approve": lambda *_: "deny"}}
    assert decide("ls", options=denying).verdict is DENY


def test_a_file_may_turn_the_catch_all_on_for_itself() -> None:
    assert decide("deploy", "flemma.opt.tools.require_approval = false").verdict is APPROVE


def test_the_rule_names_entry_preset_layer_and_line() -> None:
    decision = decide("ls", '\nflemma.opt.tools.auto_approve:append("$readonly")')
    assert decision.rule == ("append 'ls' (through $readonly) in FRONTMATTER, frontmatter line 2")
    assert decide("read").rule == "set 'read' (through $standard) in DEFAULTS"


def test_entries_in_force_are_listed_for_the_status_page() -> None:
    policy = approval_policy(
        buffer(
            'flemma.opt.tools.auto_approve:remove("write"):append("bash")',
            layers=setup(auto(["$standard", "slack.*"])),
        )
    )
    assert policy.entries() == [
        ("read", "$standard"),
        ("edit", "$standard"),
        ("find", "$standard"),
        ("grep", "$standard"),
        ("ls", "$standard"),
        ("flemma.*", "$standard"),
        ("slack.*", None),
        ("bash", None),
    ]


def test_the_preset_stays_in_the_list_when_a_member_is_removed() -> None:
    resolved = buffer('flemma.opt.tools.auto_approve:remove("write")')
    assert resolved.config.tools.auto_approve == ("$standard",)
    assert resolve(resolved.layers).inspect(("tools", "auto_approve"))[1] == "DF"
