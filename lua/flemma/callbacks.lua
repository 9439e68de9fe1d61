--- Lua functions the host knows by number.
---
--- A function inside options or a registration crosses the wire as `{ __flemma_function = n }`.
local M = {}

---@class flemma.FunctionReference
---@field __flemma_function integer

---@type table<integer, function>
local functions = {}
---@type table<function, integer>
local numbers = {}

--- Return the reference of a function; the same function always has the same number.
---@param callback function
---@return flemma.FunctionReference
function M.reference(callback)
  local number = numbers[callback]
  if not number then
    number = #functions + 1
    functions[number] = callback
    numbers[callback] = number
  end
  return { __flemma_function = number }
end

--- Return the function of a number, or nil.
---@param number integer
---@return function?
function M.get(number)
  return functions[number]
end

return M
