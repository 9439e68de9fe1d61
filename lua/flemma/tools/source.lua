--- Asynchronous tool sources: a function that registers tools later and says when it is done.
local notify = require("flemma.notify")
local wire = require("flemma.wire")

local M = {}

---@alias flemma.tools.Register fun(name: string, definition: table)
---@alias flemma.tools.Done fun(reason?: string)
---@alias flemma.tools.Resolve fun(register: flemma.tools.Register, done: flemma.tools.Done)

---@class flemma.tools.SourceDefinition
---@field resolve flemma.tools.Resolve
---@field timeout? number seconds

--- Run a source for a host that has just been told of it. The first call of `done` counts; what the
--- source throws counts as `done(reason)`.
---@param name string
---@param definition flemma.tools.SourceDefinition
---@param send fun(method: string, payload: table)
function M.resolve(name, definition, send)
  local finished = false
  local function done(reason)
    if finished then
      return
    end
    finished = true
    send("source:done", { source = name, error = reason ~= nil and tostring(reason) or nil })
  end
  local function register(tool_name, tool)
    local tools = require("flemma.tools")
    local ok, encoded = pcall(function()
      return wire.encode_dict(tools.prepare(tool_name, tool), tool_name)
    end)
    if not ok then
      notify.show(
        ("Tool '%s' was not registered: %s"):format(tostring(tool_name), encoded),
        "error"
      )
      return
    end
    require("flemma.tools.registry").discovered(tool_name, tool)
    send("source:tool", { source = name, name = tool_name, definition = encoded })
  end
  local ok, reason = pcall(definition.resolve, register, done)
  if not ok then
    done(reason)
  end
end

return M
