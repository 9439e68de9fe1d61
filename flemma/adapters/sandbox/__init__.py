"""Backends that confine commands."""
