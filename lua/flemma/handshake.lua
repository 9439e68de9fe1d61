--- What a host is told when it starts.
local notify = require("flemma.notify")
local version = require("flemma.version")

local M = {}

--- The options for the host. One that cannot be sent does not take the others along.
---@param given table<string, any>
---@return table<string, any>
local function encoded_options(given)
  local wire = require("flemma.wire")
  local options = vim.empty_dict()
  for name, value in pairs(given) do
    local ok, encoded = pcall(wire.encode, value, ("setup.%s"):format(name))
    if not ok then
      notify.show(("Flemma ignores an option: %s"):format(encoded), "error", true)
    elseif name ~= "python" then
      options[tostring(name)] = encoded
    end
  end
  return options
end

--- The first message to a host: who we are, the options, and the modules with tools.
---@return table see `Start` in flemma/host/protocol.py
function M.payload()
  local given = require("flemma.config").given()
  local state = vim.fn.stdpath("state") --[[@as string]]
  local cache = vim.fn.stdpath("cache") --[[@as string]]
  return {
    version = version.wire,
    plugin_version = version.plugin,
    pid = vim.fn.getpid(),
    options = encoded_options(given),
    cwd = vim.fn.getcwd(),
    columns = vim.o.columns,
    log_path = vim.fs.joinpath(cache, "flemma.log"),
    state_path = vim.fs.joinpath(state, "flemma"),
    cache_path = vim.fs.joinpath(cache, "flemma"),
    lua_modules = require("flemma.modules").load(given),
  }
end

return M
