-- The world a frontmatter runs in, and the limits around it.
--
-- Called with `patterns` (the bounded string functions) and the limits; returns what the Python
-- side drives. Nothing of the real environment is reachable from the code that runs inside: no io,
-- no require, no debug, no load, no coroutines (a hook does not follow into them).

local patterns, max_ticks, max_seconds = ...

local TICK = 100
local SOURCE = "=frontmatter"
local LIMIT = "took too long and was stopped"

local error, pcall, type, tostring, select = error, pcall, type, tostring, select
local pairs, setmetatable, setfenv = pairs, setmetatable, setfenv
local loadstring = loadstring
local sethook, getinfo, clock = debug.sethook, debug.getinfo, os.clock
local insert, sort = table.insert, table.sort

local ticks, deadline, depth = 0, 0, 0
local expired = false -- the error text once the time is up

local function line_of_caller()
  for level = 2, 400 do
    local info = getinfo(level, "Sl")
    if not info then
      return nil
    end
    if info.source == SOURCE then
      return info.currentline
    end
  end
  return nil
end

-- A function is where it begins; the statement that assigns it counts as being where it ends.
local function line_of(value)
  if type(value) ~= "function" then
    return line_of_caller()
  end
  local info = getinfo(value, "S")
  return info.source == SOURCE and info.linedefined or line_of_caller()
end

sethook(function()
  if depth == 0 then
    return
  end
  ticks = ticks + 1
  if not expired and (ticks > max_ticks or clock() > deadline) then
    local line = line_of_caller()
    expired = (line and "frontmatter:" .. line .. ": " or "") .. LIMIT
  end
  if expired then
    error(expired, 0)
  end
end, "", TICK)

local function begin()
  if depth == 0 then
    ticks, expired, deadline = 0, false, clock() + max_seconds
  end
  depth = depth + 1
end

-- Caught or not, running out of time ends the run.
local function guarded(ok, ...)
  if expired then
    error(expired, 0)
  end
  return ok, ...
end

local function copy(from, names)
  local to = {}
  for name in names:gmatch("%S+") do
    to[name] = from[name]
  end
  return to
end

-- Methods of strings lead to the same bounded functions.
for name, bounded in pairs(patterns) do
  string[name] = bounded
end
string.dump = nil
getmetatable("").__metatable = false

local base = copy(
  _G,
  "assert error getmetatable ipairs next pairs rawequal rawget rawset select setmetatable tonumber tostring type unpack"
)

function base.pcall(f, ...)
  return guarded(pcall(f, ...))
end

-- The handler runs after the fact: one that runs inside the error would run without the hook.
function base.xpcall(f, handler)
  local function settled(ok, ...)
    if ok then
      return true, ...
    end
    return false, handler((...))
  end
  return settled(guarded(pcall(f)))
end

base.string =
  copy(string, "byte char find format gmatch gsub len lower match rep reverse sub upper")
base.math = copy(
  math,
  "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow rad random sin sinh sqrt tan tanh"
)
base.os = copy(os, "date time clock difftime")
base.table = copy(table, "concat insert maxn remove sort")

function base.table.insert(list, ...)
  if select("#", ...) == 2 then
    local position = select(1, ...)
    if type(position) ~= "number" or position < 1 or position > #list + 1 then
      error("bad argument #2 to 'insert' (position out of bounds)", 2)
    end
  end
  return insert(list, ...)
end

function base.table.sort(list, before)
  return sort(list, before or function(left, right)
    return left < right
  end)
end

local function iterate(list)
  local index = 0
  return function()
    index = index + 1
    return list[index]
  end
end

function base.values(list)
  return iterate(list)
end

function base.each(list)
  local index, last = 0, #list
  return function()
    index = index + 1
    if index > last then
      return nil
    end
    return list[index],
      { index = index, index0 = index - 1, first = index == 1, last = index == last, length = last }
  end
end

local environment = {}
setmetatable(environment, {
  __metatable = false,
  __index = function(_, name)
    local value = base[name]
    if value == nil then
      error("Undefined variable '" .. tostring(name) .. "'", 2)
    end
    return value
  end,
})

local function describe(problem)
  local kind = type(problem)
  if kind == "string" or kind == "number" then
    return tostring(problem)
  end
  return "error object is a " .. kind .. " value"
end

local function finish(ok, ...)
  depth = depth - 1
  if expired then
    return false, expired
  end
  if ok then
    return true, ...
  end
  return false, describe((...))
end

local sandbox = { line_of_caller = line_of_caller, line_of = line_of, base = base, environment = environment }

-- Returns whether it ran, and the error text.
function sandbox.run(code)
  local chunk, problem = loadstring(code, SOURCE)
  if not chunk then
    return false, problem
  end
  setfenv(chunk, environment)
  begin()
  return finish(pcall(chunk))
end

-- Calls a function that a run left behind.
function sandbox.call(f, ...)
  begin()
  return finish(pcall(f, ...))
end

-- Wraps a function of the host: it answers whether it went well, and the value or the error text.
function sandbox.wrap(call)
  return function(...)
    local ok, value = call(...)
    if not ok then
      local line = line_of_caller()
      error((line and "frontmatter:" .. line .. ": " or "") .. value, 0)
    end
    return value
  end
end

return sandbox
