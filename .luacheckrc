std = "luajit"
cache = true
max_line_length = 100
max_comment_line_length = 130
max_cyclomatic_complexity = 12
read_globals = { "vim" }
globals = { "vim.b", "vim.bo", "vim.wo", "vim.g", "vim.o", "vim.opt" }
exclude_files = { ".venv", "node_modules", "lua/flemma/generated" }
