"""Credentials in the key store of the desktop (spec: behaviour 13.3)."""

import asyncio
import importlib
from typing import Any

from flemma.adapters.credentials.command import ask
from flemma.adapters.credentials.resolver import Found, NotFound
from flemma.ports.credentials import CredentialRequest
from flemma.ports.processes import Processes


def _names(request: CredentialRequest) -> tuple[str, ...]:
    """Return the names to look under; keys are also kept as plain ``api``."""
    return (request.kind,) if request.kind == "access_token" else (request.kind, "api")


class SecretToolResolver:
    """The Secret Service of Linux desktops, by `secret-tool`."""

    name = "secret_tool"
    priority = 50

    def __init__(self, processes: Processes, platform: str) -> None:
        self._processes = processes
        self._platform = platform

    async def resolve(self, request: CredentialRequest) -> Found | NotFound | None:
        """Run ``secret-tool lookup service <service> key <kind>``."""
        if not self._platform.startswith("linux"):
            return None
        program = self._processes.which("secret-tool")
        if program is None:
            return NotFound("secret-tool not found in PATH")
        for name in _names(request):
            argv = (program, "lookup", "service", request.service, "key", name)
            answer = await ask(self._processes, argv)
            if answer.exit_code == 0 and answer.output:
                return Found(answer.output)
        keys = " or ".join(_names(request))
        return NotFound(f"no secret with service {request.service} and key {keys}")


class KeychainResolver:
    """The keychain of macOS, by `security`."""

    name = "keychain"
    priority = 50

    def __init__(self, processes: Processes, platform: str) -> None:
        self._processes = processes
        self._platform = platform

    async def resolve(self, request: CredentialRequest) -> Found | NotFound | None:
        """Run ``security find-generic-password -s <service> -a <kind> -w``."""
        if self._platform != "darwin":
            return None
        program = self._processes.which("security")
        if program is None:
            return NotFound("security not found in PATH")
        for name in _names(request):
            argv = (program, "find-generic-password", "-s", request.service, "-a", name, "-w")
            answer = await ask(self._processes, argv)
            if answer.exit_code == 0 and answer.output:
                return Found(answer.output)
        accounts = " or ".join(_names(request))
        return NotFound(f"no password with service {request.service} and account {accounts}")


class KeyringResolver:
    """Whatever store the `keyring` package finds; an optional dependency, used in a thread."""

    name = "keyring"
    priority = 40

    async def resolve(self, request: CredentialRequest) -> Found | NotFound | None:
        """Ask for the password of user ``<kind>`` of ``<service>``."""
        return await asyncio.to_thread(_from_keyring, request)


def _from_keyring(request: CredentialRequest) -> Found | NotFound:
    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        return NotFound("the keyring package is not installed")
    for name in _names(request):
        try:
            secret = keyring.get_password(request.service, name)
        except Exception as problem:  # noqa: BLE001 - every backend raises its own kinds
            # Without a desktop there is no usable store: the same as not found.
            return NotFound(f"keyring failed: {problem}")
        if secret:
            return Found(str(secret))
    return NotFound(f"no password for service {request.service}")
