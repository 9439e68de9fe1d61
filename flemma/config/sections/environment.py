# ruff: noqa: FBT003 - the first argument of `option` is the default
"""`sandbox`, `secrets`, `logging` and the other sections about the surroundings."""

from collections.abc import Mapping
from typing import Literal

from flemma.config.options import Tables, declared, discovered, option, section

RW_PATHS = (
    "urn:flemma:cwd",
    "urn:flemma:buffer:path",
    "urn:flemma:store",
    "/tmp",  # noqa: S108 - commands expect to write there
    "${TMPDIR:-/tmp}",
    "${XDG_CACHE_HOME:-~/.cache}",
    "${XDG_DATA_HOME:-~/.local/share}",
)


@declared
class Policy:
    """`sandbox.policy`."""

    rw_paths: tuple[str, ...] = option(
        RW_PATHS,
        "Where commands and file tools may write: paths, `$VAR`, `${VAR:-default}`, or URNs.",
    )
    network: bool = option(True, "Whether commands reach the network.")
    allow_privileged: bool = option(False, "Keep the user namespace, so that sudo can work.")


@declared
class Bubblewrap:
    """`sandbox.backends.bwrap`."""

    path: str = option("bwrap", "The bubblewrap program.")
    extra_args: tuple[str, ...] = option((), "Further arguments of bubblewrap.")


@declared
class Backends:
    """`sandbox.backends`."""

    bwrap: Bubblewrap = section(Bubblewrap(), "Bubblewrap, on Linux.")
    registered: Tables = discovered("`sandbox.backends.<name>` of backends that are registered.")


@declared
class Sandbox:
    """`sandbox`."""

    enabled: bool = option(True, "Confine commands.")
    backend: str = option(
        "auto",
        "`auto` takes the first that works, `required` also warns when there is none, or a name.",
    )
    policy: Policy = section(Policy(), "What a confined command may do.")
    backends: Backends = section(Backends(), "Settings of each backend.")


@declared
class Gcloud:
    """`secrets.gcloud`."""

    path: str = option("gcloud", "The gcloud program.")


@declared
class Secrets:
    """`secrets`."""

    gcloud: Gcloud = section(Gcloud(), "Access tokens from the gcloud program.")
    registered: Tables = discovered("`secrets.<resolver>` of resolvers that are registered.")


@declared
class Logging:
    """`logging`."""

    enabled: bool = option(False, "Write a log file.")
    path: str | None = option(
        None, "The log file.", default_note="`flemma.log` in the cache directory"
    )
    level: Literal["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] = option(
        "DEBUG", "The least severe entries to write."
    )


@declared
class Diagnostics:
    """`diagnostics`."""

    enabled: bool = option(False, "Compare each request with the one before (prompt caching).")


@declared
class Devicons:
    """`integrations.devicons`."""

    enabled: bool = option(True, "Register an icon for `.chat` files.")
    icon: str = option("∴", "The icon.")


@declared
class Integrations:
    """`integrations`."""

    devicons: Devicons = section(Devicons(), "File icons.")


@declared
class Lsp:
    """`lsp`."""

    enabled: bool | None = option(
        None, "Hover and go-to-definition in chats.", default_note="true where `vim.lsp` exists"
    )


@declared
class Templating:
    """`templating`."""

    modules: tuple[str, ...] = option((), "Modules that add names to templates.")


@declared
class Providers:
    """`providers`."""

    modules: tuple[str, ...] = option((), "Modules with further providers.")


PresetValue = str | Mapping[str, object]
