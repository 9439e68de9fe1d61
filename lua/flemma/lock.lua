--- The lock of a chat buffer: the user cannot change its text while the host works on it.
local M = {}

---@type table<integer, boolean>
local locked = {}

--- Lock or unlock a buffer.
---@param payload { bufnr: integer, locked: boolean }
function M.set(payload)
  local bufnr = payload.bufnr
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  local was = locked[bufnr] == true
  locked[bufnr] = payload.locked or nil
  vim.bo[bufnr].modifiable = not payload.locked
  if was and not payload.locked then
    require("flemma.insert").unlocked(bufnr)
  end
end

--- Whether a buffer is locked.
---@param bufnr integer
---@return boolean
function M.is_locked(bufnr)
  return locked[bufnr] == true
end

--- Unlock all buffers: nobody is left to do it.
function M.release_all()
  for bufnr in pairs(locked) do
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.bo[bufnr].modifiable = true
    end
  end
  locked = {}
end

--- Drop what is kept of a buffer that is gone; when it was only unloaded, it can be edited again.
---@param bufnr integer
function M.forget(bufnr)
  if locked[bufnr] and vim.api.nvim_buf_is_valid(bufnr) then
    vim.bo[bufnr].modifiable = true
  end
  locked[bufnr] = nil
end

return M
