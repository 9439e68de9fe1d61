--- The schema DSL for tool inputs; the host turns what it builds into JSON Schema.
---
--- ```lua
--- local s = require("flemma.schema")
--- s.object({ query = s.string():describe("What to look for") }):strict()
--- ```
local M = {}

---@class flemma.schema.Node
---@field private data table what crosses the wire
local Node = {}
Node.__index = Node

--- The table the host reads (see flemma/schema/json_schema.py, `from_table`).
---@param node flemma.schema.Node
---@return table
function Node.__wire(node)
  return node.data
end

---@param kind string
---@param data? table
---@return flemma.schema.Node
local function new(kind, data)
  data = vim.tbl_extend("force", data or {}, { __flemma_schema = true, kind = kind })
  return setmetatable({ data = data }, Node)
end

---@param node flemma.schema.Node
---@param changes table
---@return flemma.schema.Node
local function changed(node, changes)
  return setmetatable({ data = vim.tbl_extend("force", node.data, changes) }, Node)
end

---@param node any
---@param what string
---@return flemma.schema.Node
local function checked(node, what)
  if getmetatable(node) ~= Node then
    error(("%s has to be a schema node such as s.string(), got %s"):format(what, type(node)), 3)
  end
  return node
end

--- Set the description the model reads.
---@param text string
---@return flemma.schema.Node
function Node:describe(text)
  return changed(self, { description = text })
end

--- Accept null: how a parameter is made optional in strict mode.
---@return flemma.schema.Node
function Node:nullable()
  return changed(self, { nullable = true })
end

--- Let the field be absent (outside strict mode).
---@return flemma.schema.Node
function Node:optional()
  return changed(self, { optional = true })
end

---@param node flemma.schema.Node
---@param strict boolean
---@return flemma.schema.Node
local function set_strict(node, strict)
  if node.data.kind ~= "object" then
    error(("only an object can be strict or passthrough, not a %s"):format(node.data.kind), 3)
  end
  return changed(node, { strict = strict })
end

--- Refuse unknown keys of an object (the default).
---@return flemma.schema.Node
function Node:strict()
  return set_strict(self, true)
end

--- Allow unknown keys of an object.
---@return flemma.schema.Node
function Node:passthrough()
  return set_strict(self, false)
end

--- A string.
---@param default? string
---@return flemma.schema.Node
function M.string(default)
  return new("string", { default = default })
end

--- A number.
---@param default? number
---@return flemma.schema.Node
function M.number(default)
  return new("number", { default = default })
end

--- A whole number.
---@param default? integer
---@return flemma.schema.Node
function M.integer(default)
  return new("integer", { default = default })
end

--- True or false.
---@param default? boolean
---@return flemma.schema.Node
function M.boolean(default)
  return new("boolean", { default = default })
end

--- An object with these fields, strict unless `:passthrough()` is called on it.
---@param fields table<string, flemma.schema.Node>
---@return flemma.schema.Node
function M.object(fields)
  local copy = vim.empty_dict()
  for name, node in pairs(fields) do
    copy[name] = checked(node, ("field '%s'"):format(name))
  end
  return new("object", { fields = copy, strict = true })
end

--- A list of items that are all alike.
---@param item flemma.schema.Node
---@return flemma.schema.Node
function M.list(item)
  return new("list", { items = checked(item, "the item of a list") })
end

--- An object with free keys.
---@param key flemma.schema.Node
---@param value flemma.schema.Node
---@return flemma.schema.Node
function M.map(key, value)
  return new("map", {
    keys = checked(key, "the key of a map"),
    values = checked(value, "the value of a map"),
  })
end

--- One of some strings.
---@param choices string[]
---@return flemma.schema.Node
function M.enum(choices)
  return new("enum", { choices = vim.list_slice(choices) })
end

--- Whatever one of the variants accepts.
---@param ... flemma.schema.Node
---@return flemma.schema.Node
function M.union(...)
  local variants = { ... }
  for _, variant in ipairs(variants) do
    checked(variant, "a variant of a union")
  end
  return new("union", { variants = variants })
end

--- Exactly this value.
---@param value string|number|boolean
---@return flemma.schema.Node
function M.literal(value)
  return new("literal", { value = value })
end

--- A field that may be absent.
---@param inner flemma.schema.Node
---@return flemma.schema.Node
function M.optional(inner)
  return checked(inner, "the argument of optional()"):optional()
end

--- A field that is present and may be null.
---@param inner flemma.schema.Node
---@return flemma.schema.Node
function M.nullable(inner)
  return checked(inner, "the argument of nullable()"):nullable()
end

return M
