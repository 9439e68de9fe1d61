"""Personalities: ready-made system prompts."""
