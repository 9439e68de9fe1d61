"""Use cases over ports: the turn engine, tool execution, jobs, commands."""
