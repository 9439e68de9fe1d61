-- `flemma.opt`: tables that look like the options and write operations.
--
-- Called with the sandbox and the functions of the host:
--   kind(path)                what the path names: section, list, both, scalar or unknown
--   get(path)                 the resolved value
--   set(path, value, line)
--   alter(op, path, items, line)
-- A path is its words joined by NUL.

local sandbox, host = ...

local error, type, setmetatable, select = error, type, setmetatable, select
local line_of_caller, line_of = sandbox.line_of_caller, sandbox.line_of

local METHODS = { set = true, append = true, prepend = true, remove = true, get = true }

local paths = setmetatable({}, { __mode = "k" })
local made = {}
local proxy_at

local function joined(path, key)
  return path == "" and key or path .. "\0" .. key
end

local function shown(path)
  return (path:gsub("%z", "."))
end

-- A proxy inside a value stands for what it names.
local function plain(value)
  if paths[value] then
    return host.get(paths[value])
  end
  return value
end

local function items_of(...)
  local items = {}
  for index = 1, select("#", ...) do
    local value = plain((select(index, ...)))
    if type(value) == "table" and #value > 0 then
      for _, item in sandbox.base.ipairs(value) do
        items[#items + 1] = item
      end
    elseif type(value) ~= "table" then
      items[#items + 1] = value
    end
  end
  return items
end

local function alter(op, list, ...)
  local path = paths[list]
  if not path then
    error("call it with a colon: flemma.opt.tools:" .. op .. "(...)", 3)
  end
  host.alter(op, path, items_of(...), line_of_caller())
  return list
end

local methods = {}

function methods.append(list, ...)
  return alter("append", list, ...)
end

function methods.prepend(list, ...)
  return alter("prepend", list, ...)
end

function methods.remove(list, ...)
  return alter("remove", list, ...)
end

function methods.set(list, value)
  host.set(paths[list], plain(value), line_of(value))
  return list
end

function methods.get(list)
  return host.get(paths[list])
end

local meta = { __metatable = false }

function meta.__index(proxy, key)
  local path = paths[proxy]
  local own = host.kind(path)
  if type(key) ~= "string" then
    local value = host.get(path)
    return type(value) == "table" and value[key] or nil
  end
  local below = joined(path, key)
  local kind = host.kind(below)
  if METHODS[key] and own ~= "section" and (kind == "unknown" or kind == "discovered") then
    return methods[key]
  end
  if kind == "unknown" then
    error(host.complaint(below), 2)
  end
  if kind == "scalar" then
    return host.get(below)
  end
  return proxy_at(below)
end

function meta.__newindex(proxy, key, value)
  if type(key) ~= "string" then
    error("flemma.opt." .. shown(paths[proxy]) .. ": assign the whole list", 2)
  end
  local path = joined(paths[proxy], key)
  if paths[value] == path then
    return -- `list = list + item`: the operator has written it already
  end
  host.set(path, plain(value), line_of(value))
end

local function operator(op)
  return function(list, item)
    if not paths[list] then
      error("the list has to stand on the left of the operator", 2)
    end
    return alter(op, list, item)
  end
end

meta.__add = operator("append")
meta.__sub = operator("remove")
meta.__pow = operator("prepend")

function meta.__tostring(proxy)
  return "flemma.opt." .. shown(paths[proxy])
end

proxy_at = function(path)
  local proxy = made[path]
  if not proxy then
    proxy = setmetatable({}, meta)
    paths[proxy] = path
    made[path] = proxy
  end
  return proxy
end

local root = proxy_at("")
local flemma = sandbox.base.flemma or {}

sandbox.base.flemma = setmetatable({}, {
  __metatable = false,
  __index = function(_, key)
    if key == "opt" then
      return root
    end
    local value = flemma[key]
    if value == nil then
      error("Undefined variable 'flemma." .. sandbox.base.tostring(key) .. "'", 2)
    end
    return value
  end,
  __newindex = function(_, key, value)
    if key ~= "opt" then
      error("only flemma.opt can be assigned", 2)
    end
    if value ~= root then
      host.set("", plain(value), line_of(value))
    end
  end,
})
