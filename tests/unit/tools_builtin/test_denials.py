"""A failure that the sandbox caused says so (case K-04)."""

import pytest

from flemma.ports.sandbox import SandboxPolicy
from flemma.tools.builtin.denials import explain_denial

READ_ONLY = "bash: /etc/x: Read-only file system"
NO_HOST = "curl: (6) Could not resolve host: example.org"


@pytest.mark.parametrize(
    ("output", "policy", "note"),
    [
        (
            READ_ONLY,
            SandboxPolicy(("/a", "/b")),
            "[The sandbox allows writing only below /a, /b.]",
        ),
        (READ_ONLY, SandboxPolicy(()), "[The sandbox allows writing nowhere.]"),
        (NO_HOST, SandboxPolicy(()), None),
        (
            NO_HOST,
            SandboxPolicy((), network=False),
            "[The sandbox does not allow network access.]",
        ),
        (
            f"{READ_ONLY}\n{NO_HOST}",
            SandboxPolicy((), network=False),
            "[The sandbox allows writing nowhere.]\n[The sandbox does not allow network access.]",
        ),
        ("make: *** [all] Error 2", SandboxPolicy((), network=False), None),
    ],
)
def test_denials_are_recognised_by_what_programs_print(
    output: str, policy: SandboxPolicy, note: str | None
) -> None:
    assert explain_denial(output, policy) == note
