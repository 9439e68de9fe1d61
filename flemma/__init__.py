"""Flemma: an AI workspace for Neovim in which the `.chat` file is the conversation."""

__version__ = "0.1.0"
