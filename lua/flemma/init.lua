--- Flemma: the plugin's front door.
local M = {}

--- Set options (see `:help flemma-options`). Optional, and may be called again at any time.
---@param options? flemma.Config
function M.setup(options)
  vim.validate("options", options, "table", true)
  require("flemma.config").set(options or {})
  -- Before the first chat there is nobody to tell, and loading more would cost the editor's start.
  local host = package.loaded["flemma.host"]
  if host then
    host.options_changed()
  end
end

return M
