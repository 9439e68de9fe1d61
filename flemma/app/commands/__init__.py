"""`:Flemma` and the keys: each command is a use case."""
