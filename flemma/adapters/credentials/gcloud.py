"""Access tokens from the Google Cloud command line (spec: behaviour 13.3)."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from flemma.adapters.credentials.command import ask
from flemma.adapters.credentials.resolver import Found, NotFound
from flemma.ports.credentials import CredentialRequest
from flemma.ports.processes import Processes

LIFETIME = 3600 * 0.925
"""Seconds a token is used: it is good for an hour, less a margin for long answers."""

FindSecret = Callable[[CredentialRequest], Awaitable[str | None]]


class GcloudResolver:
    """Tokens of a service account when there is one, else of the login of `gcloud`."""

    name = "gcloud"
    priority = 25

    def __init__(self, processes: Processes, find: FindSecret, path: str = "gcloud") -> None:
        self._processes = processes
        self._find = find
        self._path = path

    async def resolve(self, request: CredentialRequest) -> Found | NotFound | None:
        """Run ``gcloud auth print-access-token``, or its application-default form."""
        if request.kind != "access_token":
            return None
        program = self._processes.which(self._path)
        if program is None:
            return NotFound(f"executable not found: '{self._path}' (check secrets.gcloud.path)")
        account = await self._find(
            CredentialRequest("service_account", request.service, "service account")
        )
        if account is None:
            return await self._token((program, "auth", "print-access-token"), None)
        argv = (program, "auth", "application-default", "print-access-token")
        with _account_file(account) as path:
            return await self._token(argv, path)

    async def _token(self, argv: tuple[str, ...], account: str | None) -> Found | NotFound:
        environment = {"GOOGLE_APPLICATION_CREDENTIALS": account} if account else None
        answer = await ask(self._processes, argv, environment)
        if answer.exit_code != 0:
            code = f"exit code {answer.exit_code}" if answer.exit_code is not None else "not run"
            detail = f": {answer.problem}" if answer.problem else ""
            return NotFound(f"auth failed ({code}){detail}")
        if not answer.output:
            return NotFound("returned empty token")
        return Found(answer.output, LIFETIME)


@contextmanager
def _account_file(account: str) -> Generator[str, None, None]:
    """Give the path of the account's key file; a key given as JSON goes to a private file."""
    if not account.lstrip().startswith("{"):
        yield str(Path(account).expanduser())
        return
    descriptor, path = tempfile.mkstemp(prefix="flemma-", suffix=".json")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(account)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)
