"""Layers resolve as a log of operations (spec: behaviour 9.1)."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flemma.config.layers import Layer, Layers, Op, Operation, dump_layer, layer_has_op
from flemma.config.layers import layer_has_set as has_set
from flemma.config.resolve import letters, resolve
from tests.unit.config.support import op, path, setup, written

LIST = path("sandbox.policy.rw_paths")


@dataclass
class Model:
    """What a list is after some operations, written as naively as possible."""

    items: list[str]

    def apply(self, name: str, value: object) -> None:
        if name == "set":
            assert isinstance(value, tuple)
            self.items = [str(item) for item in value]
            return
        item = str(value)
        if item in self.items:
            self.items.remove(item)
        if name == "append":
            self.items.append(item)
        if name == "prepend":
            self.items.insert(0, item)


names = st.sampled_from(["a", "b", "c", "d", "/tmp"])
unique_lists = st.lists(names, unique=True, max_size=4).map(tuple)
operations = st.one_of(
    unique_lists.map(lambda items: ("set", items)),
    st.tuples(st.sampled_from(["append", "prepend", "remove"]), names),
)
logs = st.lists(operations, max_size=6)


@given(setup=logs, runtime=logs, frontmatter=logs)
def test_list_resolution_equals_a_simple_model(setup, runtime, frontmatter) -> None:
    layers = Layers()
    model = Model(list(resolve(layers).config.sandbox.policy.rw_paths))
    for layer, log in zip(Layer, ([], setup, runtime, frontmatter), strict=True):
        layers = layers.with_log(layer, [Operation(Op(name), LIST, item) for name, item in log])
        for name, item in log:
            model.apply(name, item)
    assert resolve(layers).config.sandbox.policy.rw_paths == tuple(model.items)


scalars = st.lists(st.one_of(st.integers(0, 9), st.none()), max_size=3)


@given(setup=scalars, runtime=scalars, frontmatter=scalars)
def test_the_last_set_of_the_highest_layer_wins_a_scalar(setup, runtime, frontmatter) -> None:
    layers = Layers()
    expected = 2
    for layer, log in zip(Layer, ([], setup, runtime, frontmatter), strict=True):
        layers = layers.with_log(layer, [op("set", "tools.max_concurrent", item) for item in log])
        for item in log:
            expected = 2 if item is None else item
    assert resolve(layers).config.tools.max_concurrent == expected


def test_append_moves_an_item_to_the_end_and_prepend_to_the_front() -> None:
    # Acceptance 94.
    layers = written(
        Layer.SETUP,
        op("set", "sandbox.policy.rw_paths", ("a", "b", "c")),
        op("append", "sandbox.policy.rw_paths", "a"),
        op("prepend", "sandbox.policy.rw_paths", "c"),
    )
    assert resolve(layers).config.sandbox.policy.rw_paths == ("c", "b", "a")


def test_nil_shadows_lower_layers_where_an_option_may_be_nil() -> None:
    layers = setup({"temperature": 0.5, "tools": {"max_concurrent": 7}}).with_log(
        Layer.FRONTMATTER,
        [
            op("set", "parameters.temperature", None),
            op("set", "tools.max_concurrent", None),
        ],
    )
    config = resolve(layers).config
    assert config.parameters.temperature is None
    assert config.tools.max_concurrent == 2  # not nilable: back to the default


def test_tables_merge_name_by_name_over_the_layers() -> None:
    layers = setup({"tools": {"bash": {"env": {"A": "1", "B": "2"}}}}).with_log(
        Layer.FRONTMATTER,
        [op("set", "tools.bash.env.B", "3"), op("set", "tools.bash.env.A", None)],
    )
    assert resolve(layers).config.tools.bash.env == {"B": "3"}


def test_every_value_knows_the_layers_and_the_line_it_came_from() -> None:
    layers = setup({"tools": {"auto_approve": ["+bash"]}, "thinking": "low"}).with_log(
        Layer.FRONTMATTER, [op("remove", "tools.auto_approve", "ls", 4)]
    )
    resolved = resolve(layers)
    assert resolved.inspect(path("tools.auto_approve")) == (["$standard", "bash"], "DSF")
    assert resolved.inspect(path("thinking.level")) == ("low", "S")
    assert resolved.inspect(path("provider")) == ("anthropic", "D")
    assert resolved.origin(path("tools.auto_approve"))[-1].line == 4
    assert letters(resolved.origin(path("tools"))) == "DSF"


def test_layers_answer_what_was_written_to_them() -> None:
    layers = written(
        Layer.FRONTMATTER,
        op("remove", "tools.auto_approve", "bash", 3),
        op("set", "thinking", "low"),
    )
    approve = path("tools.auto_approve")
    assert layer_has_op(layers, Layer.FRONTMATTER, Op.REMOVE, approve, "bash")
    assert not layer_has_op(layers, Layer.FRONTMATTER, Op.APPEND, approve, "bash")
    assert not layer_has_op(layers, Layer.SETUP, Op.REMOVE, approve, "bash")
    assert has_set(layers, Layer.FRONTMATTER, ("thinking",))
    assert not has_set(layers, Layer.FRONTMATTER, approve)
    assert dump_layer(layers, Layer.FRONTMATTER) == [
        "remove tools.auto_approve = 'bash' (line 3)",
        "set thinking = 'low'",
    ]


def test_a_table_of_a_tool_is_there_for_built_in_and_registered_tools() -> None:
    resolved = resolve(setup({"tools": {"export": {"max_size": 3}, "bash": {"shell": "zsh"}}}))
    assert resolved.tool_table("export") == {"max_size": 3}
    assert resolved.tool_table("bash") == {
        "shell": "zsh",
        "cwd": "urn:flemma:buffer:path",
        "env": {},
        "allow": [],
        "ask": [],
        "deny": [],
    }
    assert resolved.tool_table("slack.post") is None
    assert resolved.config.tools.registered == {"export": {"max_size": 3}}


def test_names_of_tools_may_hold_dots() -> None:
    resolved = resolve(setup({"tools": {"slack.post": {"channel": "#a"}}}))
    assert resolved.tool_table("slack.post") == {"channel": "#a"}


def test_settings_of_a_file_survive_changes_of_the_session() -> None:
    # Case L-07: resuming a chat does not reset its thinking level.
    block = written(Layer.FRONTMATTER, op("set", "parameters.thinking.level", "max"))
    switched = block.extended(Layer.RUNTIME, [op("set", "parameters.thinking.level", "low")])
    assert resolve(switched).config.parameters.thinking.level == "max"


def test_what_a_user_declares_about_a_model_is_kept_apart_from_the_catalogue() -> None:
    # Case S-21: the provider's table holds the declared limit; nothing else overrides it.
    resolved = resolve(setup({"anthropic": {"context_window": 123456}}))
    assert resolved.config.parameters.anthropic.context_window == 123456


def test_replay_refuses_a_set() -> None:
    from flemma.config.layers import replay

    with pytest.raises(ValueError, match="a set replaces"):
        replay([], Op.SET, "x")
