"""The front end without an editor: `flemma run` and `flemma doctor`."""
