"""Http over httpx, imported and set up on first use.

The only file that knows httpx; its successor has the same interface, so that taking it is a change
of the import. Failures are told in our own words: which host, what went wrong, what to do.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from flemma.errors import ErrorKind, ProviderError
from flemma.ports.clock import Clock
from flemma.ports.http import Http, HttpRequest, HttpResponse
from flemma.providers.demo.provider import SCHEME

if TYPE_CHECKING:
    import httpx


class HttpxResponse:
    """A response being read."""

    def __init__(self, response: "httpx.Response", request: HttpRequest) -> None:
        self._response = response
        self._request = request

    @property
    def status(self) -> int:
        """HTTP status."""
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, names in lower case."""
        return {name.lower(): value for name, value in self._response.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield decoded body bytes as they arrive; never lines, which httpx cuts at U+2028."""
        with _translated(self._request):
            async for chunk in self._response.aiter_bytes():
                yield chunk


class HttpxTransport:
    """Sends requests with one client for the whole process. Proxies come from the environment."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncGenerator[HttpxResponse, None]:
        """Send ``request``. Leaving, also by cancellation, closes the connection at once."""
        with _translated(request):
            client = await self._ready_client()
            import httpx

            timeout = httpx.Timeout(
                connect=request.connect_timeout,
                read=request.read_timeout,
                write=request.read_timeout,
                pool=request.connect_timeout,
            )
            headers = {"user-agent": self._user_agent, **request.headers}
            sent = client.build_request(
                "POST", request.url, headers=headers, content=request.body, timeout=timeout
            )
            response = await client.send(sent, stream=True)
        try:
            yield HttpxResponse(response, request)
        finally:
            await response.aclose()

    async def _ready_client(self) -> "httpx.AsyncClient":
        async with self._making:
            if self._client is None:
                # Loading certificates takes some 50 ms: not on the loop.
                self._client = await asyncio.to_thread(_make_client)
            return self._client

    async def close(self) -> None:
        """Close idle connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def _make_client() -> "httpx.AsyncClient":
    import httpx

    # A pooled connection may have been closed by the server while the user was reading; a fresh
    # one per request costs one handshake and never fails for that reason.
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(http1=True, http2=False, limits=limits, follow_redirects=False)


class SchemeHttp:
    """Chooses the transport by the address: `demo:` is played in this process."""

    def __init__(self, network: Http, clock: Clock) -> None:
        self._network = network
        self._clock = clock
        self._demo: Http | None = None

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        """Send ``request`` by the transport of its scheme."""
        if not request.url.startswith(SCHEME):
            return self._network.stream(request)
        if self._demo is None:
            from flemma.adapters.demo_transport import DemoTransport

            self._demo = DemoTransport(self._clock)
        return self._demo.stream(request)


@contextmanager
def _translated(request: HttpRequest) -> Generator[None, None, None]:
    """Turn httpx's errors into ours."""
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError) as problem:
        raise _error(problem, request) from problem


def _error(problem: Exception, request: HttpRequest) -> ProviderError:
    import httpx

    host = _host(request.url)
    match problem:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ProviderError(
                f"Could not connect to {host} within {request.connect_timeout:g} s. "
                "Check the network, or raise parameters.connect_timeout.",
                kind=ErrorKind.TIMEOUT,
                retryable=True,
            )
        case httpx.TimeoutException():
            return ProviderError(
                f"{host} was silent for {request.read_timeout:g} s. "
                "Send again, or raise parameters.timeout.",
                kind=ErrorKind.TIMEOUT,
                retryable=True,
            )
        case httpx.ProxyError():
            return _network(
                f"The proxy on the way to {host} refused: {problem}. "
                "Check HTTPS_PROXY and NO_PROXY."
            )
        case httpx.ConnectError():
            return _connect_error(problem, host)
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.DecodingError():
            return ProviderError(
                f"The connection to {host} broke off: {_reason(problem)}. Send again.",
                kind=ErrorKind.BROKEN_STREAM,
                retryable=True,
            )
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return ProviderError(
                f"'{request.url}' is no address to send to: {problem}. Check the base URL.",
                kind=ErrorKind.INVALID_REQUEST,
            )
        case httpx.HTTPError():
            return _network(f"Sending to {host} failed: {_reason(problem)}. Send again.")
        case _:
            return ProviderError(
                f"The connection to {host} could not be set up: {problem}. "
                "Check the proxy and certificate settings of the environment.",
                kind=ErrorKind.NETWORK,
            )


def _network(message: str) -> ProviderError:
    return ProviderError(message, kind=ErrorKind.NETWORK, retryable=True)


def _connect_error(problem: Exception, host: str) -> ProviderError:
    for cause in _causes(problem):
        match cause:
            case socket.gaierror():
                return _network(
                    f"Could not find the host {host} ({cause.strerror}). "
                    "Check the network, or the host name in the base URL."
                )
            case ssl.SSLCertVerificationError():
                return ProviderError(
                    f"The certificate of {host} is not trusted: {cause.verify_message}. "
                    "If a proxy re-signs traffic, set SSL_CERT_FILE to its certificate.",
                    kind=ErrorKind.NETWORK,
                )
            case _:
                continue
    return _network(
        f"Could not connect to {host}: {_reason(problem)}. Check the network, or if the host is up."
    )


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield the errors that ``problem`` came from."""
    seen: set[int] = set()
    current: BaseException | None = problem
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _reason(problem: Exception) -> str:
    return str(problem).strip().rstrip(".") or type(problem).__name__


def _host(url: str) -> str:
    import httpx

    try:
        return httpx.URL(url).netloc.decode("ascii") or url
    except httpx.InvalidURL:
        return url
