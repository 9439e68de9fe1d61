"""A scripted model: offline, free, and the same path through the code as a real one."""
