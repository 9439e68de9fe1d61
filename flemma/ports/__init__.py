"""Protocols between logic and IO. Nothing here does anything."""
