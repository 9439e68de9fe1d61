"""The Neovim side of the Editor port."""
