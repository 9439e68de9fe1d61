"""The process Neovim starts: entry, composition root, dispatcher, supervisor."""
