"""Sandboxed Jinja2, includes and file references."""
