"""The error tree.

::

    FlemmaError(message, hint)          shown to the user without a traceback
    |- ConfigError(path, layer)         unknown option, wrong value
    |- TemplateError                    a template could not be rendered
    |- CredentialError(service)         no key, or the key store failed
    |- ProviderError(kind, retryable)   the model's service refused or broke off
    |- EditorError
    |  |- BufferGone                    the buffer was wiped
    |  `- BufferChanged                 the buffer moved on: read again, plan again
    |- Interrupted                      the user ended a wait: what waited is dropped
    |- ProcessError                     a program could not be started
    `- SandboxUnavailable(backend)      sandboxing was asked for and cannot be had

Problems in a chat are diagnostics in the document, failures of a tool are error results, a needed
approval is a decision: none of them is an exception. Anything outside this tree is a bug; the
supervisor logs it with its traceback and reports it once.
"""

from enum import StrEnum


class FlemmaError(Exception):
    """Base of all errors that are shown to the user; ``hint`` names the way out."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(FlemmaError):
    """An option is unknown or has a wrong value."""

    def __init__(
        self, message: str, *, path: str, layer: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.layer = layer
        self.line = line


class TemplateError(FlemmaError):
    """A template could not be compiled or rendered; ``line`` is 1-based in the template."""

    def __init__(self, message: str, *, line: int | None = None, kind: str = "template") -> None:
        super().__init__(message)
        self.line = line
        self.kind = kind


class CredentialError(FlemmaError):
    """No credential was found for ``service``; the message lists where it was looked for."""

    def __init__(self, message: str, *, service: str) -> None:
        super().__init__(message)
        self.service = service


class ErrorKind(StrEnum):
    """Why a provider failed; what to do depends on it (spec: providers 1.7, cases S-04 to S-06)."""

    AUTHENTICATION = "authentication"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    CONTEXT_OVERFLOW = "context_overflow"
    TOO_LARGE = "too_large"
    INVALID_REQUEST = "invalid_request"
    SIGNATURE_MISMATCH = "signature_mismatch"
    BLOCKED = "blocked"
    NETWORK = "network"
    TIMEOUT = "timeout"
    SERVER = "server"
    BROKEN_STREAM = "broken_stream"
    EMPTY_RESPONSE = "empty_response"


class ProviderError(FlemmaError):
    """The model's service refused the request, failed, or broke the stream off."""

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind,
        retryable: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after
        """Seconds the server asked to wait, if it did."""
        self.request_id = request_id
        self.details = details
        """Extra lines for the user, such as rate-limit headers."""


class EditorError(FlemmaError):
    """The editor could not do what was asked."""


class BufferGone(EditorError):
    """The buffer was wiped while work for it was under way."""


class BufferChanged(EditorError):
    """The buffer changed since the edits were computed; compute them again."""


class Interrupted(FlemmaError):
    """The user pressed Ctrl-C while his own Lua function waited for something.

    Unlike a failure of that function it must not be passed over: whatever needed the answer ends.
    """


class ProcessError(FlemmaError):
    """A program could not be started."""


class SandboxUnavailable(FlemmaError):
    """A sandbox was demanded and none can be had."""

    def __init__(self, message: str, *, backend: str | None = None) -> None:
        super().__init__(message)
        self.backend = backend
