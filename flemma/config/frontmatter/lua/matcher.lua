-- The pattern matcher of Lua 5.1, in Lua: slower than the one in C, but the instruction hook can stop
-- it, and its recursion ends in an error where that of C ends in a crash.

local string_byte, string_sub, string_char = string.byte, string.sub, string.char
local native_find = string.find
local error, unpack = error, unpack
local floor, max, min = math.floor, math.max, math.min

local UNFINISHED, POSITION = -1, -2

local known_classes = {}

-- A letter that names no class stands for itself.
local function in_class(byte, class)
  if not native_find(string_char(class), "^[acdlpsuwxzACDLPSUWXZ]") then
    return byte == class
  end
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
  if state.lengths[number] == POSITION then
    return nil
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
  return min(max(init, 1), #subject + 1)
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

return {
  new_state = new_state,
  match = match,
  search = search,
  capture = capture,
  captures = captures,
}
