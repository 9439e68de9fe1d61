"""What a request costs (spec: behaviour 11.7, providers 1.8 and 6)."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from flemma.models.catalogue import Model, Prices


class TokenCounts(Protocol):
    """The counts of one request; :class:`flemma.conversation.usage.Usage` is one.

    ``input`` excludes cached tokens, ``output`` includes thinking.
    """

    @property
    def input(self) -> int:
        """Tokens read at full price."""
        ...

    @property
    def output(self) -> int:
        """Tokens written."""
        ...

    @property
    def cache_read(self) -> int:
        """Tokens read from the cache."""
        ...

    @property
    def cache_write(self) -> int:
        """Tokens written to the cache for five minutes."""
        ...

    @property
    def cache_write_long(self) -> int:
        """Tokens written to the cache for an hour."""
        ...


@dataclass(frozen=True, slots=True)
class Cost:
    """USD."""

    input: float
    """Everything read, cache reads and writes included."""
    output: float

    @property
    def total(self) -> float:
        """Input and output together."""
        return self.input + self.output


def total_input(usage: TokenCounts) -> int:
    """Return all tokens that were read."""
    return usage.input + usage.cache_read + usage.cache_write + usage.cache_write_long


def cost(usage: TokenCounts, model: Model) -> Cost | None:
    """Return what ``usage`` costs, or None when the prices of the model are not known.

    Quick and without IO. For models that the catalogue does not price,
    :func:`cost_from_price_list` knows many more.
    """
    if model.prices is None:
        return None
    factor = 1.0
    if model.surcharge is not None and total_input(usage) > model.surcharge.above:
        factor = model.surcharge.factor
    return _at(usage, model.prices, factor / 1_000_000)


def _at(usage: TokenCounts, prices: Prices, unit: float) -> Cost:
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    write_long = write if prices.cache_write_long is None else prices.cache_write_long
    spent = (
        usage.input * prices.input
        + usage.cache_read * read
        + usage.cache_write * write
        + usage.cache_write_long * write_long
    )
    return Cost(spent * unit, usage.output * prices.output * unit)


def cost_from_price_list(usage: TokenCounts, provider: str, model: str) -> Cost | None:
    """Return the cost by the bundled price list of genai-prices, or None when it has no price.

    The first call imports it (about 0.25 s): call this in a thread. It never uses the network.
    """
    from genai_prices import Usage, calc_price

    counts = Usage(
        input_tokens=total_input(usage),
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write + usage.cache_write_long,
        cache_write_1h_tokens=usage.cache_write_long,
        output_tokens=usage.output,
    )
    try:
        price = calc_price(
            counts, model_ref=model, provider_id=_PRICE_LIST_NAMES.get(provider, provider)
        )
    except LookupError:
        return None
    return Cost(_dollars(price.input_price), _dollars(price.output_price))


_PRICE_LIST_NAMES = {"vertex": "google", "moonshot": "moonshotai"}


def _dollars(amount: Decimal) -> float:
    return float(amount)


def cache_percent(usage: TokenCounts) -> int | None:
    """Return how much of the prompt came from the cache, or None when nothing was read."""
    total = total_input(usage)
    return usage.cache_read * 100 // total if total else None
