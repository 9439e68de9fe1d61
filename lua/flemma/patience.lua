--- What the editor refuses only for the moment: while it evaluates an expression of the user, or shows
--- the command-line window, no window and no text can be changed.
local M = {}

local AGAIN = 50 -- milliseconds

--- Errors of an editor that cannot change text or windows right now.
local BUSY = { "E565", "E523", "E11:", "E785", "E788" }

--- Whether something failed because the editor cannot change text or windows just now.
---@param reason string
---@return boolean
function M.is_busy(reason)
  return vim.iter(BUSY):any(function(code)
    return reason:find(code, 1, true) ~= nil
  end)
end

--- Do something now, or as soon as the editor lets us. What else goes wrong is raised.
---@param action fun()
function M.run(action)
  local ok, reason = pcall(action)
  if ok then
    return
  end
  if not M.is_busy(tostring(reason)) then
    error(reason, 0)
  end
  vim.defer_fn(function()
    M.run(action)
  end, AGAIN)
end

return M
