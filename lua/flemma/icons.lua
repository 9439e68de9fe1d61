--- The icon of `.chat` files, for those who have nvim-web-devicons.
local config = require("flemma.config")

local M = {}

local registered = false

--- Register the icon, once.
function M.register()
  if registered or config.get("integrations.devicons.enabled") == false then
    return
  end
  registered = true
  local found, devicons = pcall(require, "nvim-web-devicons")
  if not found or type(devicons.set_icon) ~= "function" then
    return
  end
  devicons.set_icon({
    chat = { icon = config.get("integrations.devicons.icon"), color = "#7aa2f7", name = "Chat" },
  })
end

return M
