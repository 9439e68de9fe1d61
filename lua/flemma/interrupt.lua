--- Neovim takes a Ctrl-C for itself, past all mappings, when it comes while it is at work: applying a
--- piece of an answer, say. The user means what the key is mapped to all the same.
local M = {}

local CTRL_C = "\3"
local namespace = vim.api.nvim_create_namespace("flemma_interrupt")

---@param mode string
---@return function? action what Ctrl-C is mapped to in the current chat
local function mapped(mode)
  local mapping = vim.fn.maparg("<C-c>", mode, false, true)
  return mapping.buffer == 1 and mapping.callback or nil
end

---@param key string what is left after mappings
local function pressed(key)
  if key ~= CTRL_C or not require("flemma.buffers").is_attached(vim.api.nvim_get_current_buf()) then
    return
  end
  local action = mapped(vim.api.nvim_get_mode().mode:sub(1, 1))
  if action then
    vim.schedule(action)
  end
end

--- Watch keys from now on.
function M.watch()
  vim.on_key(pressed, namespace)
end

return M
