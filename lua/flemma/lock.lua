--- The lock of a chat buffer: the user cannot change its text while the host works on it.
local M = {}

--- Whether each locked buffer was modifiable before: the user may have set it otherwise himself.
---@type table<integer, boolean>
local locked = {}

---@param bufnr integer
local function release(bufnr)
  local modifiable = locked[bufnr]
  locked[bufnr] = nil
  if modifiable ~= nil and vim.api.nvim_buf_is_valid(bufnr) then
    vim.bo[bufnr].modifiable = modifiable
  end
end

--- Lock or unlock a buffer.
---@param payload { bufnr: integer, locked: boolean }
function M.set(payload)
  local bufnr = payload.bufnr
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  if payload.locked then
    if locked[bufnr] == nil then
      locked[bufnr] = vim.bo[bufnr].modifiable
    end
    vim.bo[bufnr].modifiable = false
  else
    release(bufnr)
  end
end

--- Whether a buffer is locked.
---@param bufnr integer
---@return boolean
function M.is_locked(bufnr)
  return locked[bufnr] ~= nil
end

--- Unlock all buffers: nobody is left to do it.
function M.release_all()
  for _, bufnr in ipairs(vim.tbl_keys(locked)) do
    release(bufnr)
  end
end

--- Drop what is kept of a buffer that is gone; when it was only unloaded, it can be edited again.
M.forget = release

return M
