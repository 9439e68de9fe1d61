"""Says when it was the sandbox that made a command fail (case K-04).

A confined program only sees an error of the system, which looks like a broken disk or network.
"""

from flemma.ports.sandbox import SandboxPolicy

_READ_ONLY = ("Read-only file system", "read-only file system")
_NO_NETWORK = (
    "Could not resolve host",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "Name or service not known",
)


def explain_denial(output: str, policy: SandboxPolicy) -> str | None:
    """Return a note for the model when ``output`` of a failed command tells of a denial."""
    notes: list[str] = []
    if any(sign in output for sign in _READ_ONLY):
        paths = ", ".join(policy.rw_paths)
        allowed = f"only below {paths}" if paths else "nowhere"
        notes.append(f"[The sandbox allows writing {allowed}.]")
    if not policy.network and any(sign in output for sign in _NO_NETWORK):
        notes.append("[The sandbox does not allow network access.]")
    return "\n".join(notes) or None
