--- Lua modules named in the options.
local notify = require("flemma.notify")

local M = {}

---@type table<string, boolean>
local loaded = {}

--- Whether a name is a Lua module that can be required.
---@param name any
---@return boolean
local function is_lua_module(name)
  if type(name) ~= "string" or name:match("%.py$") or name:match("[/\\]") then
    return false
  end
  return package.loaded[name] ~= nil
    or package.preload[name] ~= nil
    or #vim.loader.find(name) > 0
    or package.searchpath(name, package.path) ~= nil
end

---@param name string
---@param action fun()
local function guarded(name, action)
  local ok, reason = pcall(action)
  if not ok then
    notify.show(("Module '%s' could not be loaded: %s"):format(name, reason), "error", true)
  end
end

---@param options table
---@param ... string
---@return any
local function at(options, ...)
  return vim.tbl_get(options, ...)
end

--- Register what the Lua modules in `tools.modules` hold, and a backup strategy written in Lua.
---@param options table options as given to `setup`
---@return string[] names the modules in `tools.modules` that are Lua modules
function M.load(options)
  local names = {}
  local listed = at(options, "tools", "modules")
  for _, name in ipairs(type(listed) == "table" and listed or {}) do
    if is_lua_module(name) then
      table.insert(names, name)
      if not loaded[name] then
        loaded[name] = true
        guarded(name, function()
          require("flemma.tools").register(name)
        end)
      end
    end
  end
  local backup = at(options, "tools", "store", "backup")
  if is_lua_module(backup) then
    guarded(backup, function()
      require("flemma.registrations").add("backup", backup, { backup = require(backup).backup })
    end)
  end
  return names
end

return M
