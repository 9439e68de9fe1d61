"""The schema DSL for tool inputs, its JSON Schema form, and input validation."""
