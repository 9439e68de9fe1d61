--- Frontmatter languages written in Lua.
local registrations = require("flemma.registrations")

local M = {}

---@class flemma.frontmatter.Language
---@field parse fun(code: string, context: table): table variables of the templates; `flemma` holds settings

--- Register a language; one of the same name is replaced.
---@param name string the word after the opening fence
---@param language flemma.frontmatter.Language
function M.register(name, language)
  vim.validate("name", name, "string")
  vim.validate("language", language, "table")
  vim.validate("language.parse", language.parse, "function")
  registrations.add("frontmatter", name:lower(), language)
end

--- Take a language away.
---@param name string
---@return boolean found
function M.unregister(name)
  return registrations.remove("frontmatter", name:lower())
end

return M
