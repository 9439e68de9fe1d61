"""Shows the usage bar of a chat: after each response, and when asked."""

from collections.abc import Mapping
from typing import Any

from flemma.adapters.nvim.lua import Lua
from flemma.app.settings import SettingsStore
from flemma.app.usage import RequestRecord, UsageLedger
from flemma.models.catalogue import describe
from flemma.ui.usage_bar import UsageBarOptions, UsageFacts, usage_bar


class NvimUsageDisplay:
    """Implements :class:`flemma.app.commands.usage.UsageDisplay` with a bar."""

    def __init__(self, lua: Lua, settings: SettingsStore, ledger: UsageLedger) -> None:
        self._lua = lua
        self._settings = settings
        self._ledger = ledger

    def follow(self, name: str, data: Mapping[str, Any]) -> None:
        """Take a lifecycle event: after a complete response the bar shows what it used."""
        if name != "request:finished" or data["status"] != "completed":
            return
        bufnr = int(data["bufnr"])
        records = self._ledger.records
        enabled = self._settings.current(bufnr).config.ui.usage.enabled
        if enabled and records and records[-1].bufnr == bufnr:
            self.show(bufnr, records[-1])

    def show(self, buffer_id: int, record: RequestRecord) -> None:
        """Show what a request used, and the session so far."""
        ui = self._settings.current(buffer_id).config.ui
        options = UsageBarOptions(
            ui.usage.position, ui.usage.highlight, ui.usage.timeout, ui.pricing.enabled
        )
        self._lua.tell("bar", usage_bar(buffer_id, self._facts(record), options))

    def _facts(self, record: RequestRecord) -> UsageFacts:
        records = self._ledger.records
        return UsageFacts(
            model=record.model,
            provider=record.provider,
            usage=record.usage,
            cost=record.cost,
            session_requests=len(records),
            session_cost=self._ledger.cost,
            session_input=sum(each.usage.total_input for each in records),
            session_output=sum(each.usage.output for each in records),
            minimum_cacheable=describe(record.provider, record.model).min_cacheable,
        )
