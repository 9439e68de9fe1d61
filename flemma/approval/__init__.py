"""Deciding what a tool call may do: a chain of resolvers, and a decision that explains itself."""
