-- String functions that cannot run away. Called with the matcher.
--
-- The matcher of Lua is C code: no instruction hook reaches it, a pattern such as ("a*"):rep(30)
-- keeps it busy for years, and a long one overflows its stack. A pattern whose worst case is small
-- goes to it; any other goes to the same algorithm in Lua, which the hook can stop.

local matcher = ...

local string_byte, string_sub = string.byte, string.sub
local native_find, native_match = string.find, string.match
local native_gmatch, native_gsub, native_rep = string.gmatch, string.gsub, string.rep
local concat, error, type, tostring = table.concat, error, type, tostring
local tonumber, floor, max = tonumber, math.floor, math.max
local new_state, match, search = matcher.new_state, matcher.match, matcher.search
local capture, captures = matcher.capture, matcher.captures

local MAX_PATTERN = 200
local MAX_COST = 200000
local MAX_STRING = 8 * 1024 * 1024
local MAX_PLAIN = 5e8

local function is_cheap(subject, pattern)
  if #pattern > MAX_PATTERN then
    return false
  end
  local repeats = 1
  for index = 1, #pattern do
    local byte = string_byte(pattern, index)
    local balance = byte == 37 and string_byte(pattern, index + 1) == 98
    if byte == 42 or byte == 43 or byte == 45 or byte == 63 or balance then -- * + - ? %b
      repeats = repeats + 1
    end
  end
  return repeats == 1 or (#subject + 1) ^ repeats <= MAX_COST
end

local function text(value, name)
  if type(value) == "number" then
    return tostring(value)
  end
  if type(value) ~= "string" then
    error("bad argument to '" .. name .. "' (string expected, got " .. type(value) .. ")", 3)
  end
  return value
end

local safe = {}

function safe.find(subject, pattern, init, plain)
  subject, pattern = text(subject, "find"), text(pattern, "find")
  plain = plain or not native_find(pattern, "[%^%$%*%+%?%.%(%[%%%-]")
  if plain and #subject * #pattern > MAX_PLAIN then
    error("text to find is too long", 2)
  end
  if plain or is_cheap(subject, pattern) then
    return native_find(subject, pattern, init, plain)
  end
  local state, first, last = search(subject, pattern, init)
  if state then
    return first, last, captures(state, first, last)
  end
  return nil
end

function safe.match(subject, pattern, init)
  subject, pattern = text(subject, "match"), text(pattern, "match")
  if is_cheap(subject, pattern) then
    return native_match(subject, pattern, init)
  end
  local state, first, last = search(subject, pattern, init)
  if state then
    return captures(state, first, last, true)
  end
  return nil
end

function safe.gmatch(subject, pattern)
  subject, pattern = text(subject, "gmatch"), text(pattern, "gmatch")
  if is_cheap(subject, pattern) then
    return native_gmatch(subject, pattern)
  end
  local position = 1
  return function()
    while position <= #subject + 1 do
      local state = new_state(subject, pattern)
      local first = position
      local stop = match(state, first, 1)
      position = stop and max(stop, first + 1) or first + 1
      if stop then
        return captures(state, first, stop - 1, true)
      end
    end
    return nil
  end
end

local function expand(state, template, first, last)
  local parts = {}
  local index = 1
  while index <= #template do
    local character = string_sub(template, index, index)
    if character == "%" then
      index = index + 1
      local digit = tonumber(string_sub(template, index, index))
      if digit == 0 or (digit == 1 and state.level == 0) then
        character = string_sub(state.subject, first, last)
      elseif digit then
        if digit > state.level then
          error("invalid capture index", 0)
        end
        character = tostring(capture(state, digit))
      else
        character = string_sub(template, index, index)
      end
    end
    parts[#parts + 1] = character
    index = index + 1
  end
  return concat(parts)
end

local function replacement(state, value, first, last)
  local kind = type(value)
  if kind == "string" or kind == "number" then
    return expand(state, tostring(value), first, last)
  end
  local result
  if kind == "table" then
    result = value[(captures(state, first, last, true))]
  elseif kind == "function" then
    result = value(captures(state, first, last, true))
  else
    error("bad argument #3 to 'gsub' (string/function/table expected)", 3)
  end
  if not result then
    return string_sub(state.subject, first, last)
  end
  if type(result) ~= "string" and type(result) ~= "number" then
    error("invalid replacement value (a " .. type(result) .. ")", 0)
  end
  return tostring(result)
end

function safe.gsub(subject, pattern, value, limit)
  subject, pattern = text(subject, "gsub"), text(pattern, "gsub")
  if is_cheap(subject, pattern) then
    return native_gsub(subject, pattern, value, limit)
  end
  local anchored = string_byte(pattern, 1) == 94
  local parts = {}
  local position, count = 1, 0
  limit = limit or #subject + 1
  while count < limit do
    local state = new_state(subject, pattern)
    local stop = match(state, position, anchored and 2 or 1)
    if stop then
      count = count + 1
      parts[#parts + 1] = replacement(state, value, position, stop - 1)
    end
    if stop and stop > position then
      position = stop
    elseif position <= #subject then
      parts[#parts + 1] = string_sub(subject, position, position)
      position = position + 1
    else
      break
    end
    if anchored then
      break
    end
  end
  parts[#parts + 1] = string_sub(subject, position)
  return concat(parts), count
end

function safe.rep(subject, count)
  subject = text(subject, "rep")
  count = floor(tonumber(count) or error("bad argument #2 to 'rep' (number expected)", 2))
  if #subject == 0 or count <= 0 then
    return ""
  end
  if #subject * count > MAX_STRING then
    error("resulting string too large", 2)
  end
  return native_rep(subject, count)
end

return safe
