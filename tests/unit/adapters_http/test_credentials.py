"""Places for credentials, their order, and what the user is told (spec: behaviour 13.3)."""

import json
import stat
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flemma.adapters.credentials.chain import CredentialChain, default_chain
from flemma.adapters.credentials.environment import EnvironmentResolver
from flemma.adapters.credentials.gcloud import GcloudResolver
from flemma.adapters.credentials.key_stores import (
    KeychainResolver,
    KeyringResolver,
    SecretToolResolver,
)
from flemma.adapters.credentials.resolver import Found, NotFound
from flemma.errors import CredentialError, ProcessError
from flemma.ports.credentials import CredentialRequest
from flemma.ports.processes import ProcessOutcome, ProcessSpec

KEY = CredentialRequest("api_key", "anthropic", "Anthropic API key", ("ANTHROPIC_AUTH_TOKEN",))
TOKEN = CredentialRequest(
    "access_token", "vertex", "Vertex access token", ("VERTEX_AI_ACCESS_TOKEN",)
)


@pytest.fixture(autouse=True)
def keyring_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests off the key store of whoever runs them."""
    monkeypatch.setitem(sys.modules, "keyring", None)


@dataclass
class FakeClock:
    """A clock that is moved by hand."""

    time: float = 0.0

    def now(self) -> datetime:
        return datetime(2026, 12, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


@dataclass
class FakeProcesses:
    """Programs that answer by their arguments (behind the program's name)."""

    answers: Mapping[str, str | int | Exception] = field(default_factory=dict)
    installed: tuple[str, ...] = ("secret-tool", "security", "gcloud")
    asked: list[str] = field(default_factory=list)
    look: Callable[[ProcessSpec], None] = lambda spec: None

    def which(self, program: str) -> str | None:
        return f"/bin/{program}" if program in self.installed else None

    async def run(
        self,
        spec: ProcessSpec,
        on_output: Callable[[bytes], None],
        on_error: Callable[[bytes], None] | None = None,
    ) -> ProcessOutcome:
        line = " ".join(spec.argv[1:])
        self.asked.append(line)
        self.look(spec)
        answer = self.answers.get(line, 1)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            on_output(answer.encode() + b"\n")
            return ProcessOutcome(0, None, survivors=False)
        if on_error is not None:
            on_error(b"first\nit went wrong\n")
        return ProcessOutcome(answer, None, survivors=False)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"ANTHROPIC_API_KEY": " key \n", "ANTHROPIC_AUTH_TOKEN": "t"}, Found("key")),
        ({"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "t"}, Found("t")),
        ({}, NotFound("ANTHROPIC_API_KEY not set (also tried: ANTHROPIC_AUTH_TOKEN)")),
    ],
)
async def test_the_variable_is_named_after_service_and_kind(
    environment: dict[str, str], expected: object
) -> None:
    assert await EnvironmentResolver(environment).resolve(KEY) == expected


async def test_a_request_without_aliases_names_one_variable() -> None:
    request = CredentialRequest("api_key", "openai", "")
    assert await EnvironmentResolver({}).resolve(request) == NotFound("OPENAI_API_KEY not set")


async def test_secret_tool_is_asked_for_the_kind_then_for_api() -> None:
    processes = FakeProcesses({"lookup service anthropic key api": "from-store"})
    found = await SecretToolResolver(processes, "linux").resolve(KEY)
    assert found == Found("from-store")
    assert processes.asked == [
        "lookup service anthropic key api_key",
        "lookup service anthropic key api",
    ]


async def test_a_token_is_not_looked_for_under_api() -> None:
    processes = FakeProcesses()
    await SecretToolResolver(processes, "linux").resolve(TOKEN)
    assert processes.asked == ["lookup service vertex key access_token"]


async def test_a_missing_program_is_named() -> None:
    resolver = SecretToolResolver(FakeProcesses(installed=()), "linux")
    assert await resolver.resolve(KEY) == NotFound("secret-tool not found in PATH")


async def test_key_stores_of_another_system_are_left_out() -> None:
    processes = FakeProcesses()
    assert await SecretToolResolver(processes, "darwin").resolve(KEY) is None
    assert await KeychainResolver(processes, "linux").resolve(KEY) is None
    assert processes.asked == []


async def test_the_keychain_is_asked_on_a_mac() -> None:
    processes = FakeProcesses({"find-generic-password -s anthropic -a api -w": "mac-key"})
    assert await KeychainResolver(processes, "darwin").resolve(KEY) == Found("mac-key")


async def test_a_program_that_cannot_start_is_a_reason_not_a_crash() -> None:
    processes = FakeProcesses({"auth print-access-token": ProcessError("no such interpreter")})
    resolver = GcloudResolver(processes, nobody)
    assert await resolver.resolve(TOKEN) == NotFound("auth failed (not run): no such interpreter")


async def nobody(request: CredentialRequest) -> str | None:
    del request
    return None


async def test_keyring_is_used_when_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("keyring")
    stored = {("anthropic", "api"): "ring-key"}
    monkeypatch.setattr(module, "get_password", lambda *key: stored.get(key), raising=False)
    monkeypatch.setitem(sys.modules, "keyring", module)
    assert await KeyringResolver().resolve(KEY) == Found("ring-key")
    assert isinstance(await KeyringResolver().resolve(TOKEN), NotFound)


async def test_a_keyring_without_a_desktop_counts_as_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: str) -> str:
        raise RuntimeError("no backend")

    module = types.ModuleType("keyring")
    monkeypatch.setattr(module, "get_password", fail, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", module)
    assert await KeyringResolver().resolve(KEY) == NotFound("keyring failed: no backend")


async def test_a_keyring_that_is_not_installed_is_said() -> None:
    assert await KeyringResolver().resolve(KEY) == NotFound("the keyring package is not installed")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("ya29.token", Found("ya29.token", 3600 * 0.925)),
        ("", NotFound("returned empty token")),
        (2, NotFound("auth failed (exit code 2): it went wrong")),
    ],
)
async def test_gcloud_gives_tokens_of_the_login(answer: str | int, expected: object) -> None:
    processes = FakeProcesses({"auth print-access-token": answer})
    assert await GcloudResolver(processes, nobody).resolve(TOKEN) == expected


async def test_gcloud_gives_tokens_only() -> None:
    assert await GcloudResolver(FakeProcesses(), nobody).resolve(KEY) is None


async def test_a_missing_gcloud_names_the_setting() -> None:
    resolver = GcloudResolver(FakeProcesses(installed=()), nobody, "/opt/gcloud")
    assert await resolver.resolve(TOKEN) == NotFound(
        "executable not found: '/opt/gcloud' (check secrets.gcloud.path)"
    )


async def test_a_service_account_goes_through_a_private_file_that_is_removed() -> None:
    account = json.dumps({"type": "service_account"})
    seen: list[tuple[str, int, str]] = []

    def look(spec: ProcessSpec) -> None:
        if spec.environment is None:
            return
        path = Path(spec.environment["GOOGLE_APPLICATION_CREDENTIALS"])
        seen.append((path.read_text(), stat.S_IMODE(path.stat().st_mode), str(path)))

    line = "auth application-default print-access-token"
    processes = FakeProcesses({line: "sa-token"}, look=look)
    chain = default_chain(
        {"VERTEX_SERVICE_ACCOUNT": account}, processes, FakeClock(), platform="linux"
    )
    assert await chain.get(TOKEN) == "sa-token"
    ((content, mode, path),) = seen
    assert (content, mode) == (account, 0o600)
    assert not Path(path).exists()


async def test_the_environment_wins_and_the_answer_is_remembered() -> None:
    environment = {"ANTHROPIC_API_KEY": "first"}
    processes = FakeProcesses()
    chain = default_chain(environment, processes, FakeClock(), platform="linux")
    assert await chain.get(KEY) == "first"
    environment["ANTHROPIC_API_KEY"] = "second"
    assert await chain.get(KEY) == "first"
    chain.invalidate(KEY)
    assert await chain.get(KEY) == "second"
    environment["ANTHROPIC_API_KEY"] = "third"
    chain.invalidate_all()
    assert await chain.get(KEY) == "third"
    assert processes.asked == []


async def test_a_token_is_asked_for_again_when_its_time_is_over() -> None:
    clock = FakeClock()
    processes = FakeProcesses({"auth print-access-token": "token"}, installed=("gcloud",))
    chain = default_chain({}, processes, clock, platform="linux")
    for moment in (0.0, 3300.0, 3331.0):
        clock.time = moment
        assert await chain.get(TOKEN) == "token"
    assert processes.asked == ["auth print-access-token"] * 2


async def test_nothing_found_tells_every_place_that_was_tried() -> None:
    chain = default_chain({}, FakeProcesses(), FakeClock(), platform="linux")
    with pytest.raises(CredentialError) as caught:
        await chain.get(KEY)
    assert caught.value.service == "anthropic"
    assert caught.value.message.splitlines() == [
        "No Anthropic API key found:",
        "  [environment] ANTHROPIC_API_KEY not set (also tried: ANTHROPIC_AUTH_TOKEN)",
        "  [secret_tool] no secret with service anthropic and key api_key or api",
        "  [keyring] the keyring package is not installed",
    ]


async def test_a_place_that_is_added_is_asked_by_its_priority() -> None:
    class Mine:
        name = "mine"
        priority = 200

        async def resolve(self, request: CredentialRequest) -> Found:
            return Found(f"my {request.service}")

    chain = CredentialChain([EnvironmentResolver({"ANTHROPIC_API_KEY": "env"})], FakeClock())
    chain.add(Mine())
    assert await chain.get(KEY) == "my anthropic"
