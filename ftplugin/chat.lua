-- Also runs when the buffer is read again: attaching twice is attaching anew.
require("flemma.buffers").attach(vim.api.nvim_get_current_buf())
