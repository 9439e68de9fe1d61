"""Rules about shell commands: read the line as a shell would, judge every command in it."""
