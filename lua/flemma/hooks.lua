--- Lifecycle events: `User` autocommands and Lua handlers.
local notify = require("flemma.notify")

local M = {}

---@alias flemma.Hook fun(data: table)

---@type table<string, flemma.Hook[]>
local handlers = {}

--- Call `handler` with the event's data whenever the event `name` happens.
---@param name string such as "request:finished"
---@param handler flemma.Hook
---@return fun() remove takes the handler away again
function M.on(name, handler)
  vim.validate("name", name, "string")
  vim.validate("handler", handler, "function")
  handlers[name] = handlers[name] or {}
  table.insert(handlers[name], handler)
  return function()
    for index, entry in ipairs(handlers[name]) do
      if entry == handler then
        table.remove(handlers[name], index)
        return
      end
    end
  end
end

--- The pattern of an event's autocommand: `tool:executing` is `FlemmaToolExecuting`.
---@param name string
---@return string
function M.pattern(name)
  local words = vim.split(name, "[:%-]")
  for index, word in ipairs(words) do
    words[index] = word:sub(1, 1):upper() .. word:sub(2)
  end
  return "Flemma" .. table.concat(words)
end

---@param name string
---@param call fun()
local function guarded(name, call)
  local ok, reason = pcall(call)
  if not ok then
    notify.show(("hook '%s' handler error: %s"):format(name, tostring(reason)), "error")
  end
end

--- Fire an event. What a handler raises is reported and stops nobody else.
---@param name string
---@param data table
function M.fire(name, data)
  guarded(name, function()
    vim.api.nvim_exec_autocmds("User", {
      pattern = M.pattern(name),
      modeline = false,
      data = data,
    })
  end)
  for _, handler in ipairs(vim.list_slice(handlers[name] or {})) do
    guarded(name, function()
      handler(data)
    end)
  end
end

return M
