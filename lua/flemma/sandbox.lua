--- Sandbox backends written in Lua.
local registrations = require("flemma.registrations")

local M = {}

---@class flemma.sandbox.Backend
---@field available fun(options: table): boolean, string?
---@field wrap fun(policy: table, options: table, command: string[]): string[]?, string?
---@field priority? integer higher is tried first; 50 unless given
---@field description? string

--- Register a backend; one of the same name is replaced.
---@param name string
---@param backend flemma.sandbox.Backend
function M.register(name, backend)
  vim.validate("name", name, "string")
  vim.validate("backend", backend, "table")
  vim.validate("backend.available", backend.available, "function")
  vim.validate("backend.wrap", backend.wrap, "function")
  vim.validate("backend.priority", backend.priority, "number", true)
  registrations.add("sandbox", name, vim.tbl_extend("keep", backend, { priority = 50 }))
end

--- Take a backend away.
---@param name string
---@return boolean found
function M.unregister(name)
  return registrations.remove("sandbox", name)
end

return M
