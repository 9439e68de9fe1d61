"""The resolver of `tools.bash.allow`, `.ask` and `.deny`; it is there only for who has rules."""

from flemma.approval.resolvers import Answer, ApprovalContext, Opinion, Resolver, ToolInput
from flemma.approval.shell.rules import ShellRules, judge
from flemma.config.schema import Config

SHELL = "urn:flemma:approval:shell"
PRIORITY = 110
"""Above `tools.auto_approve`, so that a denied command stays denied when bash is approved there."""

TOOL = "bash"


def shell_rules(config: Config) -> ShellRules:
    """Return the patterns of a buffer."""
    bash = config.tools.bash
    return ShellRules(bash.allow, bash.ask, bash.deny)


def shell_resolver() -> Resolver:
    """Return the resolver that judges command lines."""
    return Resolver(SHELL, _resolve, PRIORITY, "tools.bash.allow, ask and deny")


def _resolve(tool_name: str, tool_input: ToolInput, context: ApprovalContext) -> Answer:
    if tool_name != TOOL:
        return Opinion(None, "not a shell command")
    command = tool_input.get("command")
    if not isinstance(command, str):
        return Opinion(None, "depends on the command")
    return judge(shell_rules(context.config), command)
