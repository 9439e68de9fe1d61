"""The host starts while the user waits, so it must not import what a first paint does not need."""

import subprocess
import sys

LOADED_ON_FIRST_USE = (
    "httpx",
    "jinja2",
    "lupa",
    "yaml",
    "genai_prices",
    "mcp",
    "keyring",
    "google.auth",
    "lsprotocol",
    "tree_sitter",
    "pydantic",
    "puremagic",
    "pathspec",
    "importlib.metadata",
    # Our own: what works on a chat, once it is painted.
    "flemma.app.session",
    "flemma.app.turn",
    "flemma.app.request",
    "flemma.app.sandboxes",
    "flemma.app.commands.table",
    "flemma.adapters.http",
    "flemma.adapters.credentials.chain",
    "flemma.providers.anthropic.request",
    "flemma.providers.demo.provider",
    "flemma.conversation.messages",
    "flemma.templating.evaluation",
    "flemma.prompt.personalities",
    "flemma.lsp.handlers",
    "flemma.models.catalogue",
)


def modules_after(statement: str) -> set[str]:
    source = f"{statement}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_importing_the_host_loads_nothing_that_can_wait():
    loaded = modules_after("import flemma.host.__main__")
    assert "flemma.host" in loaded
    assert loaded.isdisjoint(LOADED_ON_FIRST_USE), (
        f"import these in the function that needs them: {sorted(loaded & set(LOADED_ON_FIRST_USE))}"
    )


def test_the_check_sees_an_import():
    assert "yaml" in modules_after("import yaml")
