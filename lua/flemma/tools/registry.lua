--- Look-up of tools from Lua: those registered here, those discovered by sources, the built-in ones.
local registrations = require("flemma.registrations")

local M = {}

---@type table<string, table>
local found = {}
---@type table<string, table>?
local builtin

---@return table<string, table>
local function builtin_tools()
  if not builtin then
    local ok, generated = pcall(require, "flemma.generated.tools")
    builtin = ok and type(generated) == "table" and generated or {}
  end
  return builtin
end

--- Keep a tool that an asynchronous source registered.
---@param name string
---@param definition table
function M.discovered(name, definition)
  found[name] = definition
end

--- The definition of a tool, or nil. Of a built-in tool only what Lua knows: its capabilities.
---@param name string
---@return table?
function M.get(name)
  return registrations.get("tool", name) or found[name] or builtin_tools()[name]
end

--- Whether a tool is known.
---@param name string
---@return boolean
function M.has(name)
  return M.get(name) ~= nil
end

--- All tools by name.
---@return table<string, table>
function M.get_all()
  local all = vim.tbl_extend("force", {}, builtin_tools(), found)
  for _, entry in ipairs(registrations.all("tool")) do
    all[entry.name] = entry.definition
  end
  return all
end

--- How many tools are known.
---@return integer
function M.count()
  return vim.tbl_count(M.get_all())
end

--- Whether a tool declares a capability; false for an unknown tool or one without capabilities.
---@param name string
---@param capability string such as "emits_template"
---@return boolean
function M.has_capability(name, capability)
  local tool = M.get(name)
  local capabilities = tool and tool.capabilities
  return type(capabilities) == "table" and vim.list_contains(capabilities, capability)
end

return M
