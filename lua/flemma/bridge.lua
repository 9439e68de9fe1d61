--- Runs functions the user registered, for the host: plainly, or as a tool with its context.
local callbacks = require("flemma.callbacks")
local host = require("flemma.host")
local wire = require("flemma.wire")

local M = {}

---@class flemma.RunningCall
---@field replied boolean
---@field cancel? fun()

---@type table<integer, flemma.RunningCall>
local running = {}

--- Answer a call; only the first answer counts.
---@param id integer
---@param ok boolean
---@param value any
---@param interrupted? boolean
local function reply(id, ok, value, interrupted)
  local call = running[id]
  if not call or call.replied then
    return
  end
  call.replied = true
  running[id] = nil
  local encoded_ok, encoded = pcall(wire.encode, value, "the result")
  if not encoded_ok then
    ok = false
  end
  if encoded == nil then
    encoded = vim.NIL
  end
  host.notify("reply", { id = id, ok = ok, value = encoded, interrupted = interrupted })
end

local INTERRUPTED = -2 -- second value of `vim.wait`

--- Call `action`; tell whether the user pressed Ctrl-C while it waited. The key ends the wait and
--- nothing else, so that the action would go on as if it had what it waited for.
---@param action fun(): any
---@return boolean ok
---@return any value
---@return boolean interrupted
local function interruptible(action)
  local wait = vim.wait
  local interrupted = false
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.wait = function(...) -- luacheck: ignore 122
    local results = vim.F.pack_len(wait(...))
    interrupted = interrupted or (not results[1] and results[2] == INTERRUPTED)
    return vim.F.unpack_len(results)
  end
  local ok, value = pcall(action)
  vim.wait = wait -- luacheck: ignore 122
  return ok, value, interrupted
end

--- Call `action`; what it throws is the answer.
---@param id integer
---@param action fun(): any
---@return boolean ok
---@return any value
local function guarded(id, action)
  local ok, value, interrupted = interruptible(action)
  if interrupted then
    reply(id, false, "Interrupted by Ctrl-C.", true)
  elseif not ok then
    reply(id, false, tostring(value))
  end
  return ok and not interrupted, value
end

---@param arguments any[]
---@return any[]
local function without_nulls(arguments)
  local list = {}
  for index = 1, #arguments do
    local value = arguments[index]
    if value == vim.NIL then
      value = nil
    end
    list[index] = value
  end
  list.n = #arguments
  return list
end

---@param id integer
---@param callback function
---@param arguments any[]
local function run_plain(id, callback, arguments)
  local list = without_nulls(arguments)
  local ok, value = guarded(id, function()
    local first, second = callback(unpack(list, 1, list.n))
    -- `nil, reason` and `false, reason` are how Lua functions say that they failed.
    if not first and type(second) == "string" then
      error(second, 0)
    end
    return first
  end)
  if ok then
    reply(id, true, value)
  end
end

---@param id integer
---@param callback function
---@param arguments any[]
local function run_tool(id, callback, arguments)
  local input, data = arguments[1], arguments[2]
  local context = require("flemma.tools.context").new(id, data)
  local function done(result)
    reply(id, true, result)
  end
  local ok, value = guarded(id, function()
    return callback(input, context, done)
  end)
  local call = running[id]
  if not ok or not call then
    return
  end
  if type(value) == "function" then
    call.cancel = value
  elseif value ~= nil then
    reply(id, true, value)
  end
end

---@param id integer
local function cancel(id)
  local call = running[id]
  running[id] = nil
  if call and call.cancel then
    local ok, reason = pcall(call.cancel)
    if not ok then
      require("flemma.notify").show(("Cancelling a tool failed: %s"):format(reason), "error")
    end
  end
end

--- See `Call` in flemma/host/protocol.py. Returns at once; the answer is a `reply`.
---@param payload { id: integer, function: integer, mode: string, arguments: any[], cancel?: boolean }
function M.call(payload)
  if payload.cancel then
    cancel(payload.id)
    return
  end
  local id = payload.id
  running[id] = { replied = false }
  local callback = callbacks.get(payload["function"])
  if not callback then
    reply(id, false, ("there is no Lua function %s"):format(tostring(payload["function"])))
    return
  end
  vim.schedule(function()
    if not running[id] then
      return -- cancelled meanwhile
    end
    if payload.mode == "tool" then
      run_tool(id, callback, payload.arguments)
    else
      run_plain(id, callback, payload.arguments)
    end
  end)
end

--- The host is gone: end what runs for it.
function M.reset()
  for id in pairs(running) do
    cancel(id)
  end
end

return M
