"""The `label` every built-in tool asks for."""

from flemma import schema as s
from flemma.schema.nodes import StringNode


def label_field() -> StringNode:
    """Return the field in which the model says what a call is for; shown in previews."""
    return s.string().describe(
        "What this call is for, in a few words, e.g. 'finding TODOs'; the user sees it"
    )
