--- The context a Lua tool gets: the same contract as in Python, asked from the host where needed.
local callbacks = require("flemma.callbacks")
local host = require("flemma.host")
local wire = require("flemma.wire")

local M = {}

---@class flemma.tools.PathContext
---@field resolve fun(path: string): string

---@class flemma.tools.SandboxContext
---@field is_path_writable fun(path: string): boolean
---@field wrap_command fun(command: string[]): string[]?, string?

---@class flemma.tools.TruncateContext
---@field MAX_LINES integer
---@field MAX_BYTES integer
---@field truncate_head fun(content: string, options?: table): table
---@field truncate_tail fun(content: string, options?: table): table
---@field truncate_with_overflow fun(content: string, options?: { direction: "head"|"tail" }): table
---@field format_size fun(bytes: integer): string

---@class flemma.tools.Context
---@field bufnr integer
---@field tool_id string
---@field cwd string
---@field timeout number seconds
---@field __dirname? string
---@field __filename? string
---@field path flemma.tools.PathContext
---@field sandbox flemma.tools.SandboxContext
---@field truncate flemma.tools.TruncateContext
---@field get_config fun(self: flemma.tools.Context): table?
---@field get_parsed_document fun(self: flemma.tools.Context): table

local MAX_LINES = 2000
local MAX_BYTES = 51200

---@class flemma.tools.Asked
---@field ok boolean
---@field value any

---@param call integer
---@param name string
---@param ... any
---@return flemma.tools.Asked
local function ask(call, name, ...)
  local answer, reason = host.request("flemma:context", {
    tool_call = call,
    ["function"] = name,
    arguments = wire.encode({ ... }, name),
  })
  if type(answer) ~= "table" then
    return { ok = false, value = reason or ("the host did not answer " .. name) }
  end
  return wire.decode(answer)
end

---@param call integer
---@param name string
---@return fun(...: any): any
local function asking(call, name)
  return function(...)
    local answer = ask(call, name, ...)
    if not answer.ok then
      error(tostring(answer.value), 2)
    end
    return answer.value
  end
end

--- The namespaces, each made when it is first used.
---@type table<string, fun(call: integer): table>
local NAMESPACES = {
  path = function(call)
    return { resolve = asking(call, "path.resolve") }
  end,
  sandbox = function(call)
    return {
      is_path_writable = asking(call, "sandbox.is_path_writable"),
      wrap_command = function(command)
        local answer = ask(call, "sandbox.wrap_command", command)
        if not answer.ok then
          return nil, tostring(answer.value)
        end
        local wrap = answer.value["function"]
        if wrap then
          -- A backend written in Lua: the host, which waits for nobody, leaves the call to us.
          return callbacks.get(wrap)(unpack(answer.value.arguments))
        end
        return answer.value.argv
      end,
    }
  end,
  truncate = function(call)
    return {
      MAX_LINES = MAX_LINES,
      MAX_BYTES = MAX_BYTES,
      truncate_head = asking(call, "truncate.truncate_head"),
      truncate_tail = asking(call, "truncate.truncate_tail"),
      truncate_with_overflow = asking(call, "truncate.truncate_with_overflow"),
      format_size = asking(call, "truncate.format_size"),
    }
  end,
}

--- Make the context of one call.
---@param call integer number of the call
---@param data table what the host sent: bufnr, tool_id, tool_name, cwd, timeout, dirname, filename
---@return flemma.tools.Context
function M.new(call, data)
  local context = {
    bufnr = data.bufnr,
    tool_id = data.tool_id,
    tool_name = data.tool_name,
    cwd = data.cwd,
    timeout = data.timeout,
    __dirname = data.dirname,
    __filename = data.filename,
    get_config = function()
      return asking(call, "get_config")()
    end,
    get_parsed_document = function()
      return asking(call, "get_parsed_document")()
    end,
  }
  return setmetatable(context, {
    __index = function(self, name)
      local namespace = NAMESPACES[name]
      if namespace then
        local made = namespace(call)
        rawset(self, name, made)
        return made
      end
    end,
  })
end

return M
