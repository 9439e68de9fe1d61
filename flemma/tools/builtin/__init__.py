"""The tools that ship with Flemma."""
