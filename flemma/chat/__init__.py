"""The `.chat` format: nodes, parser, headers, fences, edits, queries, lint."""
