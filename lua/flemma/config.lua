--- Options as Lua needs them: the defaults, over them what `setup` got, over them what the host
--- merged from all layers. The host checks them; here they are only looked up.
local M = {}

---@type table<string, any>
local given = {}
---@type table<string, any>
local told = {}
--- Merged when first asked for, so that `setup` costs nothing at the start of the editor.
---@type table<string, any>?
local merged

---@type fun()[]
local listeners = {}

--- A wrong type is for the host to report; it must not break the keys. `true` and `false` in place of
--- a section switch it.
---@param options table<string, any>
---@param defaults table<string, any>
---@return table<string, any>
local function usable(options, defaults)
  local result = {}
  for name, value in pairs(options) do
    local is_section = type(defaults[name]) == "table"
    if is_section and type(value) == "boolean" then
      result[name] = { enabled = value }
    elseif not is_section or type(value) == "table" then
      result[name] = value
    end
  end
  return result
end

---@return table<string, any>
local function merge()
  local defaults = require("flemma.generated.defaults").options
  return vim.tbl_deep_extend("force", defaults, usable(given, defaults), usable(told, defaults))
end

local function changed()
  merged = nil
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- What `setup` got, functions and all.
---@return flemma.Config
function M.given()
  return given
end

--- Keep the options of `setup`.
---@param options flemma.Config
function M.set(options)
  given, told = options, {}
  changed()
end

--- Take what the host merged from all layers.
---@param options table<string, any>
function M.pushed(options)
  told = options
  changed()
end

--- Call `listener` whenever the options changed.
---@param listener fun()
function M.on_change(listener)
  table.insert(listeners, listener)
end

--- Return the option at a dotted path, or nil.
---@param path string such as "keymaps.normal.send"
---@return any
function M.get(path)
  merged = merged or merge()
  local value = merged
  for name in path:gmatch("[^.]+") do
    if type(value) ~= "table" then
      return nil
    end
    value = value[name]
  end
  return value
end

return M
