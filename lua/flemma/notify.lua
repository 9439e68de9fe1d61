--- Messages to the user.
local M = {}

local LEVELS = {
  info = vim.log.levels.INFO,
  warn = vim.log.levels.WARN,
  error = vim.log.levels.ERROR,
}

---@type table<string, boolean>
local shown = {}

--- Show a message; with `once`, the same text is shown one time per session.
---@param message string
---@param level? "info"|"warn"|"error"
---@param once? boolean
function M.show(message, level, once)
  if once then
    if shown[message] then
      return
    end
    shown[message] = true
  end
  vim.notify(message, LEVELS[level or "info"] or vim.log.levels.INFO, { title = "Flemma" })
end

return M
