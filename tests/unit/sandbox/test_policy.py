"""From `rw_paths` to a decision."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.errors import ConfigError
from flemma.tools.sandbox_policy import (
    PathVariables,
    expand_paths,
    is_writable,
    writable_roots,
)

VARIABLES = PathVariables(
    cwd="/work",
    home="/home/me",
    buffer_directory="/notes",
    environment={"CACHE": "/var/cache", "EMPTY": ""},
)


@pytest.mark.parametrize(
    ("entry", "expanded"),
    [
        ("urn:flemma:cwd", ("/work",)),
        ("urn:flemma:buffer:path", ("/notes",)),
        ("urn:flemma:store", ()),
        ("$CACHE", ("/var/cache",)),
        ("${CACHE}", ("/var/cache",)),
        ("$UNSET", ()),
        ("$EMPTY", ()),
        ("${CACHE:-/x}", ("/var/cache",)),
        ("${UNSET:-/x y}", ("/x y",)),
        ("${EMPTY:-~/.cache}", ("/home/me/.cache",)),
        ("${UNSET:-}", ()),
        ("~", ("/home/me",)),
        ("~/a", ("/home/me/a",)),
        ("~other", ("/work/~other",)),
        ("/tmp/$CACHE", ("/tmp/$CACHE",)),
        ("sub", ("/work/sub",)),
        ("", ()),
    ],
)
def test_an_entry_expands_only_as_a_whole(entry: str, expanded: tuple[str, ...]) -> None:
    assert expand_paths([entry], VARIABLES) == expanded


def test_the_store_is_an_entry_once_it_is_known() -> None:
    variables = PathVariables(cwd="/", home="/", store_directory="/s")
    assert expand_paths(["urn:flemma:store", "urn:flemma:buffer:path"], variables) == ("/s",)


def test_an_unknown_urn_is_an_error_that_names_it() -> None:
    with pytest.raises(ConfigError, match="unknown URN") as caught:
        expand_paths(["urn:flemma:nope"], VARIABLES)
    assert caught.value.message == "flemma: unknown URN variable 'urn:flemma:nope'"


def roots(*paths: str) -> tuple[str, ...]:
    return writable_roots(paths, posixpath.normpath, lambda path: "missing" not in path)


@pytest.mark.parametrize(
    ("paths", "kept"),
    [
        (("/tmp", "/tmpfs", "/tmp/x"), ("/tmp", "/tmpfs")),
        (("/tmp/", "/tmp"), ("/tmp",)),
        (("/b", "/a", "/missing"), ("/a", "/b")),
        (("/a/b", "/"), ("/",)),
        (("/a", "/a-b", "/a/b"), ("/a", "/a-b")),
        ((), ()),
    ],
)
def test_roots_are_deduplicated_on_directory_boundaries(
    paths: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    """Acceptance 109, K-04."""
    assert roots(*paths) == kept


@pytest.mark.parametrize(
    ("path", "writable"),
    [
        ("/tmp", True),
        ("/tmp/", True),
        ("/tmp/a/b", True),
        ("/tmpfs/a", False),
        ("/", False),
        ("/t", False),
    ],
)
def test_a_path_is_writable_in_and_below_a_root(path: str, *, writable: bool) -> None:
    """Acceptance 76."""
    assert is_writable(path, ["/tmp"]) is writable
    assert is_writable(path, ["/"])
    assert not is_writable(path, [])


PATHS = st.lists(st.sampled_from(["a", "a-", "b"]), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(st.lists(PATHS, max_size=6), PATHS)
def test_dropping_covered_paths_changes_no_decision(paths: list[str], asked: str) -> None:
    kept = roots(*paths)
    assert is_writable(asked, kept) is is_writable(asked, paths)
    assert not any(is_writable(one, [other]) for one in kept for other in kept if one != other)
