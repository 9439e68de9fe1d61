--- Flemma: the plugin's front door.
local M = {}

--- Set options (see `:help flemma-options`). Optional, and may be called again at any time.
---@param options? flemma.Config
function M.setup(options)
  vim.validate("options", options, "table", true)
  require("flemma.config").set(options or {})
  require("flemma.host").options_changed()
end

return M
