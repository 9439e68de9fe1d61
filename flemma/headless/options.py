"""Options of a run: the file of the user, and what the command line says on top."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flemma.app.settings import SettingsStore
from flemma.config.layers import Layer, Op, Operation
from flemma.config.options import Path as OptionPath
from flemma.config.setup import read_values
from flemma.errors import ConfigError
from flemma.providers.registry import ProviderRegistry
from flemma.text.suggest import closest
from flemma.tools.registry import ToolRegistry

AUTO_APPROVE = ("tools", "auto_approve")
GRACE = 60.0
"""Seconds that background jobs get by default once nothing else is under way."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says."""

    file: str
    provider: str | None = None
    model: str | None = None
    approve: tuple[str, ...] = ()
    max_turns: int | None = None
    grace: float = GRACE
    """Seconds."""
    json: bool = False


def config_path(environment: Mapping[str, str]) -> Path:
    """Return the directory that `config.yaml` or `config.json` may stand in."""
    home = environment.get("HOME", "/")
    base = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    return Path(base) / "flemma"


def read_config(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the options of `setup()` from the user's file; none when there is no file.

    Raises :class:`ConfigError` when the file cannot be understood: running with other options than
    the user wrote down, approval among them, would be worse than not running.
    """
    directory = config_path(environment)
    for name in ("config.yaml", "config.json"):
        path = directory / name
        try:
            source = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"Cannot read {path}: {error}", path=str(path)) from error
        return _parse(path, source)
    return {}


def _parse(path: Path, source: str) -> Mapping[str, Any]:
    import yaml

    try:
        options = json.loads(source) if path.suffix == ".json" else yaml.safe_load(source)
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", path=str(path)) from error
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"{path} must hold a mapping of options.", path=str(path))
    return cast("Mapping[str, Any]", options)


def apply_run_options(
    settings: SettingsStore, options: RunOptions, providers: ProviderRegistry
) -> None:
    """Write the command line to the RUNTIME layer. Raises :class:`ConfigError`."""
    if options.provider is not None:
        providers.get(options.provider)
    values: list[tuple[OptionPath, object]] = [
        (("tools", "autopilot", "enabled"), True),
        # Nobody can change their mind during the delay.
        (("tools", "autopilot", "resume_delay"), 0),
        # An empty file stays empty: it has nothing to send.
        (("editing", "auto_prompt"), False),
        (("editing", "auto_write"), True),
    ]
    if options.provider is not None:
        values.append((("provider",), options.provider))
    if options.max_turns is not None:
        values.append((("tools", "autopilot", "max_turns"), options.max_turns))
    operations, errors = read_values(values, Layer.RUNTIME, settings.known)
    if errors:
        raise errors[0]
    # A model of the user's own provider means nothing to another one.
    if options.model is not None or options.provider is not None:
        operations = (*operations, Operation(Op.SET, ("model",), options.model))
    approved = tuple(Operation(Op.APPEND, AUTO_APPROVE, name) for name in options.approve)
    settings.extend_layer(Layer.RUNTIME, (*operations, *approved))


def unknown_approvals(approve: Sequence[str], tools: ToolRegistry) -> tuple[str, ...]:
    """Return a warning for each name that approves nothing, because it would do so in silence."""
    known = tools.names()
    return tuple(
        _unknown(name, known)
        for name in approve
        if name not in known and not name.startswith("$") and "*" not in name
    )


def _unknown(name: str, known: Sequence[str]) -> str:
    near = closest(name, known)
    hint = f" Did you mean '{near}'?" if near else ""
    return f"--approve: no tool is called '{name}'.{hint}"


def log_path(environment: Mapping[str, str]) -> Path:
    """Return the log file of runs."""
    home = environment.get("HOME", "/")
    base = environment.get("XDG_STATE_HOME") or f"{home}/.local/state"
    return Path(base) / "flemma" / "headless.log"
