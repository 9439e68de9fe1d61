-- String functions that cannot run away.
--
-- The matcher of Lua is C code: no instruction hook reaches it, a pattern such as ("a*"):rep(30)
-- keeps it busy for years, and a long one overflows its stack. A pattern whose worst case is small
-- goes to it; any other goes to the same algorithm in Lua below, which the hook can stop.

local string_byte, string_sub, string_char = string.byte, string.sub, string.char
local native_find, native_match = string.find, string.match
local native_gmatch, native_gsub, native_rep = string.gmatch, string.gsub, string.rep
local concat, error, type, tostring, select, unpack = table.concat, error, type, tostring, select, unpack
local tonumber, floor, max = tonumber, math.floor, math.max

local MAX_PATTERN = 200
local MAX_COST = 200000
local MAX_STRING = 8 * 1024 * 1024
local MAX_PLAIN = 5e8

local UNFINISHED, POSITION = -1, -2

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

local known_classes = {}

local function in_class(byte, class)
  local known = known_classes[class]
  if not known then
    known = {}
    known_classes[class] = known
  end
  local answer = known[byte]
  if answer == nil then
    answer = native_find(string_char(byte), "^%" .. string_char(class)) ~= nil
    known[byte] = answer
  end
  return answer
end

local function class_end(pattern, index)
  local byte = string_byte(pattern, index)
  index = index + 1
  if byte == 37 then -- %
    if index > #pattern then
      error("malformed pattern (ends with '%')", 0)
    end
    return index + 1
  end
  if byte == 91 then -- [
    if string_byte(pattern, index) == 94 then
      index = index + 1
    end
    repeat
      if index > #pattern then
        error("malformed pattern (missing ']')", 0)
      end
      local inner = string_byte(pattern, index)
      index = index + 1
      if inner == 37 and index <= #pattern then
        index = index + 1
      end
    until string_byte(pattern, index) == 93
    return index + 1
  end
  return index
end

-- `first` is the [, `last` the closing ].
local function in_set(byte, pattern, first, last)
  local answer = true
  local index = first + 1
  if string_byte(pattern, index) == 94 then
    answer = false
    index = index + 1
  end
  while index < last do
    local inner = string_byte(pattern, index)
    if inner == 37 then
      if in_class(byte, string_byte(pattern, index + 1)) then
        return answer
      end
      index = index + 2
    elseif string_byte(pattern, index + 1) == 45 and index + 2 < last then
      if inner <= byte and byte <= string_byte(pattern, index + 2) then
        return answer
      end
      index = index + 3
    else
      if inner == byte then
        return answer
      end
      index = index + 1
    end
  end
  return not answer
end

local function single(state, position, index, stop)
  local byte = string_byte(state.subject, position)
  if not byte then
    return false
  end
  local expected = string_byte(state.pattern, index)
  if expected == 46 then -- .
    return true
  elseif expected == 37 then
    return in_class(byte, string_byte(state.pattern, index + 1))
  elseif expected == 91 then
    return in_set(byte, state.pattern, index, stop - 1)
  end
  return expected == byte
end

local function capture(state, number)
  local length = state.lengths[number]
  if length == POSITION then
    return state.starts[number]
  end
  if length == UNFINISHED then
    error("unfinished capture", 0)
  end
  return string_sub(state.subject, state.starts[number], state.starts[number] + length - 1)
end

local match

local function balanced(state, position, index)
  if index + 1 > #state.pattern then
    error("unbalanced pattern", 0)
  end
  local open, close = string_byte(state.pattern, index, index + 1)
  if string_byte(state.subject, position) ~= open then
    return nil
  end
  local depth = 1
  for at = position + 1, #state.subject do
    local byte = string_byte(state.subject, at)
    if byte == close then
      depth = depth - 1
      if depth == 0 then
        return at + 1
      end
    elseif byte == open then
      depth = depth + 1
    end
  end
  return nil
end

local function greedy(state, position, index, stop)
  local count = 0
  while single(state, position + count, index, stop) do
    count = count + 1
  end
  while count >= 0 do
    local result = match(state, position + count, stop + 1)
    if result then
      return result
    end
    count = count - 1
  end
  return nil
end

local function lazy(state, position, index, stop)
  while true do
    local result = match(state, position, stop + 1)
    if result then
      return result
    end
    if not single(state, position, index, stop) then
      return nil
    end
    position = position + 1
  end
end

local function open_capture(state, position, index, kind)
  state.level = state.level + 1
  if state.level > 32 then
    error("too many captures", 0)
  end
  state.starts[state.level] = position
  state.lengths[state.level] = kind
  local result = match(state, position, index)
  if not result then
    state.level = state.level - 1
  end
  return result
end

local function close_capture(state, position, index)
  for level = state.level, 1, -1 do
    if state.lengths[level] == UNFINISHED then
      state.lengths[level] = position - state.starts[level]
      local result = match(state, position, index)
      if not result then
        state.lengths[level] = UNFINISHED
      end
      return result
    end
  end
  error("invalid pattern capture", 0)
end

local function frontier(state, position, index)
  if string_byte(state.pattern, index) ~= 91 then
    error("missing '[' after '%f' in pattern", 0)
  end
  local stop = class_end(state.pattern, index)
  local before = string_byte(state.subject, position - 1) or 0
  if position == 1 then
    before = 0
  end
  local here = string_byte(state.subject, position) or 0
  if in_set(before, state.pattern, index, stop - 1) then
    return nil
  end
  return in_set(here, state.pattern, index, stop - 1) and stop or nil
end

local function back_reference(state, position, digit)
  local number = digit - 48
  if number < 1 or number > state.level or state.lengths[number] == UNFINISHED then
    error("invalid capture index", 0)
  end
  local text = capture(state, number)
  if string_sub(state.subject, position, position + #text - 1) == text then
    return position + #text
  end
  return nil
end

-- Returns the position after the match of the pattern from `index`, or nil.
match = function(state, position, index)
  local pattern = state.pattern
  while true do
    if index > #pattern then
      return position
    end
    local byte = string_byte(pattern, index)
    local following = string_byte(pattern, index + 1)
    if byte == 40 then -- (
      if following == 41 then
        return open_capture(state, position, index + 2, POSITION)
      end
      return open_capture(state, position, index + 1, UNFINISHED)
    elseif byte == 41 then -- )
      return close_capture(state, position, index + 1)
    elseif byte == 36 and index == #pattern then -- $
      return position == #state.subject + 1 and position or nil
    elseif byte == 37 and following == 98 then -- %b
      position = balanced(state, position, index + 2)
      index = index + 4
    elseif byte == 37 and following == 102 then -- %f
      index = frontier(state, position, index + 2)
      if not index then
        return nil
      end
    elseif byte == 37 and following and following >= 48 and following <= 57 then
      position = back_reference(state, position, following)
      index = index + 2
    else
      local stop = class_end(pattern, index)
      local repetition = string_byte(pattern, stop)
      if repetition == 42 then -- *
        return greedy(state, position, index, stop)
      elseif repetition == 45 then -- -
        return lazy(state, position, index, stop)
      end
      local fits = single(state, position, index, stop)
      if repetition == 43 then -- +
        return fits and greedy(state, position + 1, index, stop) or nil
      elseif repetition == 63 then -- ?
        if fits then
          local result = match(state, position + 1, stop + 1)
          if result then
            return result
          end
        end
        index = stop + 1
      elseif fits then
        position = position + 1
        index = stop
      else
        return nil
      end
    end
    if not position then
      return nil
    end
  end
end

local function new_state(subject, pattern)
  return { subject = subject, pattern = pattern, level = 0, starts = {}, lengths = {} }
end

-- All captures; the whole match when there are none and `whole` is given.
local function captures(state, first, last, whole)
  if state.level == 0 then
    if whole then
      return string_sub(state.subject, first, last)
    end
    return
  end
  local found = {}
  for number = 1, state.level do
    found[number] = capture(state, number)
  end
  return unpack(found, 1, state.level)
end

local function start_of(subject, init)
  init = init and floor(init) or 1
  if init < 0 then
    init = max(#subject + init + 1, 1)
  end
  return max(init, 1)
end

-- Looks for the first match from `init`: returns the state, its first and its last position.
local function search(subject, pattern, init)
  local anchored = string_byte(pattern, 1) == 94
  local position = start_of(subject, init)
  local state = new_state(subject, pattern)
  while position <= #subject + 1 do
    state.level = 0
    local stop = match(state, position, anchored and 2 or 1)
    if stop then
      return state, position, stop - 1
    end
    if anchored then
      return nil
    end
    position = position + 1
  end
  return nil
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
