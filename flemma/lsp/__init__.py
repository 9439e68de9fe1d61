"""Pure language-server handlers over a document."""
