"""Provider-neutral messages, stream events, usage and stop reasons."""
