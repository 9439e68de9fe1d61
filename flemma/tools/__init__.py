"""Tool definitions, registry, execution context, harness parameters."""
