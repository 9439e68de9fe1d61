--- Options as Lua needs them: the defaults, over them what `setup` got, over them what the host
--- merged from all layers. The host checks them; here they are only looked up.
local DEFAULTS = require("flemma.generated.defaults").options

local M = {}

---@type table<string, any>
local given = {}
---@type table<string, any>
local merged = vim.deepcopy(DEFAULTS)

---@type fun()[]
local listeners = {}

---@param options table
local function merge(options)
  merged = vim.tbl_deep_extend("force", DEFAULTS, options)
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- What `setup` got, functions and all.
---@return table<string, any>
function M.given()
  return given
end

--- A wrong type is for the host to report; it must not break the keys. `true` and `false` in place of
--- a section switch it.
---@param options table<string, any>
---@return table<string, any>
local function usable(options)
  local result = {}
  for name, value in pairs(options) do
    local is_section = type(DEFAULTS[name]) == "table"
    if is_section and type(value) == "boolean" then
      result[name] = { enabled = value }
    elseif not is_section or type(value) == "table" then
      result[name] = value
    end
  end
  return result
end

--- Keep the options of `setup`.
---@param options flemma.Config
function M.set(options)
  given = options
  merge(usable(options))
end

--- Take what the host merged from all layers.
---@param options table<string, any>
function M.pushed(options)
  merge(usable(options))
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
