"""Confining commands: backends and the choice between them."""
