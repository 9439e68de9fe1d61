"""What a request cost: our own catalogue first, the large price list where it is silent."""

import asyncio

from flemma.conversation.usage import Usage
from flemma.models.catalogue import Model
from flemma.models.pricing import cost, cost_from_price_list


async def price(usage: Usage, model: Model) -> float | None:
    """Return US dollars, or None when nobody knows the model's prices."""
    known = cost(usage, model)
    if known is None and model.provider != "demo":
        known = await asyncio.to_thread(cost_from_price_list, usage, model.provider, model.name)
    return None if known is None else known.total
