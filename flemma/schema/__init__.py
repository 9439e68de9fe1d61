"""The schema DSL for tool inputs, and the checking of what a model sends.

::

    from flemma import schema as s

    s.object({
        "label": s.string().describe("What this call is for"),
        "limit": s.integer().nullable(),
    }).strict()

The names shadow builtins inside this module on purpose: it is meant to be used as a prefix.
"""

from flemma.schema.factories import boolean_node as boolean
from flemma.schema.factories import enum_node as enum
from flemma.schema.factories import integer_node as integer
from flemma.schema.factories import list_node as list
from flemma.schema.factories import literal_node as literal
from flemma.schema.factories import map_node as map
from flemma.schema.factories import nullable_node as nullable
from flemma.schema.factories import number_node as number
from flemma.schema.factories import object_node as object
from flemma.schema.factories import optional_node as optional
from flemma.schema.factories import string_node as string
from flemma.schema.factories import union_node as union
from flemma.schema.json_schema import from_table, schema_problem, to_json_schema
from flemma.schema.nodes import Node
from flemma.schema.validate import Checked, check_arguments

__all__ = [
    "Checked",
    "Node",
    "boolean",
    "check_arguments",
    "enum",
    "from_table",
    "integer",
    "list",
    "literal",
    "map",
    "nullable",
    "number",
    "object",
    "optional",
    "schema_problem",
    "string",
    "to_json_schema",
    "union",
]
