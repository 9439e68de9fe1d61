--- What was registered from Lua. Kept here, since a host that starts (again) is told everything.
local wire = require("flemma.wire")

local M = {}

---@alias flemma.RegistrationKind "tool"|"tool_source"|"resolver"|"sandbox"|"frontmatter"|"backup"

---@class flemma.Registration
---@field kind flemma.RegistrationKind
---@field name string
---@field definition table as the user gave it

---@type flemma.Registration[]
local entries = {}

---@type fun(method: string, payload: table)?
local send

---@param kind flemma.RegistrationKind
---@param name string
---@return integer?
local function position(kind, name)
  for index, entry in ipairs(entries) do
    if entry.kind == kind and entry.name == name then
      return index
    end
  end
end

---@param entry flemma.Registration
local function tell(entry)
  if send then
    send("register", {
      kind = entry.kind,
      name = entry.name,
      definition = wire.encode_dict(entry.definition, entry.name),
    })
  end
end

--- Register something, in place of what had this name before.
--- Raises an error when the definition holds what cannot be sent.
---@param kind flemma.RegistrationKind
---@param name string
---@param definition table
function M.add(kind, name, definition)
  wire.encode(definition, name)
  local entry = { kind = kind, name = name, definition = definition }
  local index = position(kind, name)
  if index then
    table.remove(entries, index)
  end
  table.insert(entries, entry)
  tell(entry)
end

--- Take a registration back.
---@param kind flemma.RegistrationKind
---@param name string
---@return boolean found
function M.remove(kind, name)
  local index = position(kind, name)
  if not index then
    return false
  end
  table.remove(entries, index)
  if send then
    send("unregister", { kind = kind, name = name })
  end
  return true
end

--- The definition registered under a name, or nil.
---@param kind flemma.RegistrationKind
---@param name string
---@return table?
function M.get(kind, name)
  local index = position(kind, name)
  return index and entries[index].definition or nil
end

--- All registrations of a kind, in order.
---@param kind flemma.RegistrationKind
---@return flemma.Registration[]
function M.all(kind)
  return vim.tbl_filter(function(entry)
    return entry.kind == kind
  end, entries)
end

--- Tell a host everything, then each change as it comes. Without `sender`: tell nobody any more.
---@param sender? fun(method: string, payload: table)
function M.connect(sender)
  send = sender
  if not sender then
    return
  end
  for _, entry in ipairs(entries) do
    tell(entry)
    if entry.kind == "tool_source" then
      require("flemma.tools.source").resolve(entry.name, entry.definition, sender)
    end
  end
end

--- Whether a host is connected, and how to speak to it.
---@return fun(method: string, payload: table)?
function M.sender()
  return send
end

return M
