-- A Neovim with nothing but Flemma in it, for `make demo`: your own configuration is not touched.
local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

vim.o.termguicolors = true
vim.o.swapfile = false
vim.o.wrap = true
vim.o.linebreak = true

require("flemma").setup({
  -- The model is a script that ships with Flemma: offline, and it needs no key.
  provider = "demo",
  -- Where a sandbox confines commands, they need no approval. The tour shows how to give one.
  tools = { auto_approve_sandboxed = false },
})
