"""Who may run what: resolver chain, presets, rules."""
