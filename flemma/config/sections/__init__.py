"""Every option of Flemma, by section."""
