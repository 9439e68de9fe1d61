"""Pure text functions: truncation, lines, terminal output, sizes, globs, did-you-mean."""
