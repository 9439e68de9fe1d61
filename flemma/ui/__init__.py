"""View models: what the screen should show, as plain data."""
