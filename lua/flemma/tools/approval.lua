--- Approval resolvers: who says whether a tool call runs, waits for the user, or is denied.
local config = require("flemma.config")
local registrations = require("flemma.registrations")

local M = {}

---@alias flemma.approval.Decision "approve"|"require_approval"|"deny"

---@class flemma.approval.Context
---@field bufnr integer
---@field tool_id string

---@class flemma.approval.Resolver
---@field resolve fun(tool_name: string, input: table, context: flemma.approval.Context): flemma.approval.Decision?
---@field priority? integer higher runs first; 50 unless given
---@field description? string

local DEFAULT_PRIORITY = 50
local RESERVED = "urn:flemma:"

--- Whether a resolver of the user may have this name.
---@param name any
---@return boolean
local function is_free(name)
  return type(name) == "string" and name ~= "" and not vim.startswith(name, RESERVED)
end

--- The resolvers that live in the host; listed so that Lua sees the whole chain.
---@return table<string, table>
local function builtin()
  local chain = {
    ["urn:flemma:approval:config"] = {
      priority = 100,
      description = "Reads `tools.auto_approve` as merged from all layers",
    },
    ["urn:flemma:approval:sandbox"] = {
      priority = 25,
      description = "Approves tools with the capability `auto_approves_if_sandboxed`",
    },
  }
  if config.get("tools.require_approval") == false then
    chain["urn:flemma:approval:catch-all"] = {
      priority = 0,
      description = "Approves everything, as `tools.require_approval` is off",
    }
  end
  return chain
end

---@param name string
---@param resolver table
---@return table
local function entry_of(name, resolver)
  return vim.tbl_extend("force", { priority = DEFAULT_PRIORITY }, resolver, { name = name })
end

--- Register a resolver; one of the same name is replaced.
---@param name string such as "my_plugin.policy"
---@param resolver flemma.approval.Resolver
function M.register(name, resolver)
  vim.validate("name", name, is_free, false, "a name that does not begin with " .. RESERVED)
  vim.validate("resolver", resolver, "table")
  vim.validate("resolver.resolve", resolver.resolve, "function")
  vim.validate("resolver.priority", resolver.priority, "number", true)
  vim.validate("resolver.description", resolver.description, "string", true)
  registrations.add("resolver", name, {
    resolve = resolver.resolve,
    priority = resolver.priority or DEFAULT_PRIORITY,
    description = resolver.description,
  })
end

--- Take a resolver away.
---@param name string
---@return boolean found
function M.unregister(name)
  return registrations.remove("resolver", name)
end

--- The entry of a resolver (a copy), or nil.
---@param name string
---@return table?
function M.get(name)
  local resolver = registrations.get("resolver", name) or builtin()[name]
  return resolver and entry_of(name, resolver) or nil
end

--- All resolvers (copies), the one asked first in front.
---@return table[]
function M.get_all()
  local list = {}
  for name, resolver in pairs(builtin()) do
    table.insert(list, entry_of(name, resolver))
  end
  for _, entry in ipairs(registrations.all("resolver")) do
    table.insert(list, entry_of(entry.name, entry.definition))
  end
  table.sort(list, function(left, right)
    if left.priority ~= right.priority then
      return left.priority > right.priority
    end
    return left.name < right.name
  end)
  return list
end

--- How many resolvers there are, built-in ones included.
---@return integer
function M.count()
  return #M.get_all()
end

--- Whether a resolver of this name is there.
---@param name string
---@return boolean
function M.has(name)
  return M.get(name) ~= nil
end

--- Take away all resolvers registered from Lua.
function M.clear()
  for _, entry in ipairs(registrations.all("resolver")) do
    registrations.remove("resolver", entry.name)
  end
end

return M
