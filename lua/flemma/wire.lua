--- Values as they cross the wire.
local callbacks = require("flemma.callbacks")

local M = {}

local EMPTY_DICT = getmetatable(vim.empty_dict())

local encode

---@param value table
---@param path string
---@param parents table<table, boolean>
---@return table
local function encode_table(value, path, parents)
  local metatable = getmetatable(value)
  if metatable and metatable.__wire then
    return encode(metatable.__wire(value), path, parents)
  end
  if parents[value] then
    error(("%s contains itself and cannot be sent"):format(path), 0)
  end
  parents[value] = true
  local is_list = next(value) ~= nil and vim.islist(value)
  -- An empty dictionary made on purpose stays one; any other empty table is an empty list.
  local copy = metatable == EMPTY_DICT and vim.empty_dict() or {}
  for key, item in pairs(value) do
    local name = is_list and key or tostring(key)
    copy[name] = encode(item, ("%s.%s"):format(path, tostring(key)), parents)
  end
  parents[value] = nil
  return copy
end

---@param value any
---@param path string
---@param parents table<table, boolean>
---@return any
function encode(value, path, parents)
  local kind = type(value)
  if kind == "table" then
    return encode_table(value, path, parents)
  elseif kind == "function" then
    return callbacks.reference(value)
  elseif kind == "thread" or kind == "cdata" or (kind == "userdata" and value ~= vim.NIL) then
    error(("%s is a %s and cannot be sent"):format(path, kind), 0)
  end
  return value
end

--- Make a value fit for the wire: functions become references, mixed tables dictionaries.
--- Raises an error naming the place of a value that cannot be sent.
---@param value any
---@param path string what the value is, for the error
---@return any
function M.encode(value, path)
  return encode(value, path, {})
end

--- As `encode`, for a value that has to be a dictionary even when it is empty.
---@param value table?
---@param path string
---@return table
function M.encode_dict(value, path)
  if value == nil or next(value) == nil then
    return vim.empty_dict()
  end
  return encode(value, path, {})
end

--- Take the nulls out of dictionaries. In lists they stay `vim.NIL`, to keep the positions.
---@param value any
---@return any
function M.decode(value)
  if value == vim.NIL then
    return nil
  end
  if type(value) ~= "table" then
    return value
  end
  local is_list = vim.islist(value)
  for key, item in pairs(value) do
    if item == vim.NIL then
      if not is_list then
        value[key] = nil
      end
    elseif type(item) == "table" then
      M.decode(item)
    end
  end
  return value
end

return M
