"""Where the result store keeps its files (spec: tools, "Store location"; behaviour 6.2)."""

import pytest

from flemma.app.store_paths import StoreKey, expand_environment, next_backup, tidied
from flemma.errors import ConfigError, FlemmaError
from tests.unit.app.store_support import KEY, site

HOME = {"HOME": "/home/user"}


def test_the_store_lies_beside_the_chat() -> None:
    assert site().path(KEY) == "/home/user/notes/.flemma/example.chat/tool_bash_toolu_01.txt"
    assert site().store_directory() == "/home/user/notes/.flemma/example.chat"


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({}, "/home/user/.flemma/store"),
        ({"XDG_STATE_HOME": ""}, "/home/user/.flemma/store"),
        ({"XDG_STATE_HOME": "/state"}, "/state/flemma/store"),
        ({"XDG_STATE_HOME": "/state/flemma"}, "/state/flemma/store"),
        ({"XDG_STATE_HOME": "~/state"}, "/home/user/state/flemma/store"),
    ],
)
def test_the_state_preset_keeps_chat_directories_clean(
    environment: dict[str, str], root: str
) -> None:  # acceptance 85
    path = site(path_format="$state", **environment).path(KEY)
    assert path == f"{root}/home--user--notes--example.chat/tool_bash_toolu_01.txt"


def test_names_and_ids_become_safe_parts_of_a_name() -> None:  # acceptance 86
    key = StoreKey("job", "flemma.jobs.status", "urn:flemma:tool:bash:ab")
    name = "job_flemma__jobs__status_urn--flemma--tool--bash--ab.txt"
    assert site().path(key).endswith(f"/example.chat/{name}")
    hostile = StoreKey("tool", "../../../etc/passwd", "../../x")
    directory = "/home/user/notes/.flemma/example.chat/"
    assert site().path(hostile).removeprefix(directory).count("/") == 0


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ __dirname }}/out/{{ name }}-{{ id }}", "/home/user/notes/out/bash-toolu_01"),
        ("out/{{ bufnr }}.txt", "/home/user/notes/out/7.txt"),
        ("~/out/{{ flemma.pid }}", "/home/user/out/4711"),
        ("$OUT/{{ source }}", "/out/tool"),
        ("${OUT}/x", "/out/x"),
        ("${NONE:-${OUT}/y}/x", "/out/y/x"),
        ("${NONE:-~/y}/x", "/home/user/y/x"),
        ("$NONE/x", "/x"),
        ("/a/./b/../c//d", "/a/c/d"),
        ("{{ flemma.path.flatten(__dirname) }}/x", "/home/user/notes/home--user--notes/x"),
        ("{{ __dirname }}/flemma/flemma/x", "/home/user/notes/flemma/x"),
    ],
)
def test_templates_see_the_conversation_and_the_environment(template: str, expected: str) -> None:
    assert site(path_format=template, OUT="/out").path(KEY) == expected


def test_a_buffer_without_a_file_has_a_place_of_its_own() -> None:
    assert site(None).path(KEY) == "/tmp/flemma/unnamed/4711/7/tool_bash_toolu_01.txt"
    assert site(None, TMPDIR="/t").path(KEY).startswith("/t/flemma/unnamed/4711/")
    assert site(None, unnamed="x/{{ id }}", directory="/work").path(KEY) == "/work/x/toolu_01"


def test_unknown_presets_are_named_and_unnamed_buffers_take_none() -> None:
    with pytest.raises(ConfigError, match=r"Unknown store preset '\$here' \(known: \$chat, \$st"):
        site(path_format="$here").path(KEY)
    with pytest.raises(ConfigError, match="not supported in unnamed_path_format"):
        site(None, unnamed="$state").path(KEY)


def test_a_broken_template_is_an_error_of_ours() -> None:
    with pytest.raises(FlemmaError):
        site(path_format="{{ nope }}/x").path(KEY)


@pytest.mark.parametrize(
    "directory",
    ["/home/user/flemma/flemma", "/src/bash-bash", "/costs/$HOME/${USER}", "/with {{ braces }}"],
)
def test_the_directory_of_the_chat_is_called_what_it_is_called(directory: str) -> None:
    path = site(f"{directory}/a.chat", USER="me").path(KEY)
    assert path == f"{directory}/.flemma/a.chat/tool_bash_toolu_01.txt"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x/.flemma/flemma/flemma/a", "/x/.flemma/a"),
        ("/x/flemma/flemma/a", "/x/flemma/a"),
        ("/x/flemmatic/flemma/a", "/x/flemmatic/flemma/a"),
        ("/flemma/a", "/flemma/a"),
        ("/x/tool_bash_bash--x.txt", "/x/tool_bash--x.txt"),
        ("/x/tool_bash_bash-bash_x", "/x/tool_bash_x"),
        ("/x/tool_bash_bashful.txt", "/x/tool_bash_bashful.txt"),
        ("/x/tool_bash__bash.txt", "/x/tool_bash__bash.txt"),
        ("/bash/bash/x", "/bash/bash/x"),
    ],
)
def test_what_templates_repeat_is_taken_out(path: str, expected: str) -> None:
    assert tidied(path, "bash") == expected


def test_variables_are_expanded_once() -> None:
    environment = {**HOME, "A": "$B", "B": "b"}
    assert expand_environment("$A/${A}/${A:-x}/${C:-$A}", environment) == "$B/$B/$B/$B"


def test_the_next_free_backup_keeps_the_extension() -> None:
    taken = {"/d/a.1.txt", "/d/a.2.txt"}
    assert next_backup("/d/a.txt", taken.__contains__) == "/d/a.3.txt"
    assert next_backup("/d/a.b.txt", taken.__contains__) == "/d/a.b.1.txt"
    assert next_backup("/d.x/name", taken.__contains__) == "/d.x/name.1"
