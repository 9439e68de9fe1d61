vim.filetype.add({ extension = { chat = "chat" } })
