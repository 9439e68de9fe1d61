"""The process Neovim starts: entry, composition, dispatcher."""
