"""Options: the schema, layers, list operations, frontmatter."""
