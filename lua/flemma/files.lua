--- Files the editor has loaded: for them the buffer is the truth.
local M = {}

---@type table<integer, { mtime: string, path: string }> what was on disk when it was last read or written
local on_disk = {}

---@alias flemma.Outcome { ok: boolean, error?: string }

---@param path string
---@return string? stamp
local function stamp_of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ("%d.%d.%d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size)
end

---@param bufnr integer
local function note(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  local stamp = path ~= "" and stamp_of(path)
  on_disk[bufnr] = stamp and { mtime = stamp, path = path } or nil
end

--- Note the file of each buffer as it is read and written, to see when another program changed it.
function M.watch()
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "FileChangedShellPost" }, {
    group = vim.api.nvim_create_augroup("flemma_files", { clear = true }),
    callback = function(event)
      note(event.buf)
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].modified then
      note(bufnr)
    end
  end
end

---@param path string
---@return integer? bufnr
local function find(path)
  local wanted = vim.uv.fs_realpath(path) or path
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" then
      local name = vim.api.nvim_buf_get_name(bufnr)
      if name ~= "" and (name == path or name == wanted or vim.uv.fs_realpath(name) == wanted) then
        return bufnr
      end
    end
  end
end

---@param payload { bufnr?: integer, path?: string }
---@return integer? bufnr
local function buffer_of(payload)
  if payload.bufnr then
    return vim.api.nvim_buf_is_loaded(payload.bufnr) and payload.bufnr or nil
  end
  return find(payload.path)
end

---@param payload { bufnr?: integer, path?: string }
---@return flemma.Outcome
local function not_loaded(payload)
  local what = payload.path or ("buffer " .. tostring(payload.bufnr))
  return { ok = false, error = what .. " is not loaded" }
end

--- The text of a loaded file, or nil.
---@param payload { path: string }
---@return table?
function M.read(payload)
  local bufnr = find(payload.path)
  if not bufnr then
    return nil
  end
  return {
    lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false),
    modified = vim.bo[bufnr].modified,
    final_newline = vim.bo[bufnr].endofline,
    fileformat = vim.bo[bufnr].fileformat,
    tick = vim.api.nvim_buf_get_changedtick(bufnr),
    encoding = vim.bo[bufnr].fileencoding,
    bom = vim.bo[bufnr].bomb,
  }
end

--- Replace lines of a loaded file in one undo step, unless it has another revision by now.
---@param payload { path: string, revision: integer, first: integer, last: integer, lines: string[], final_newline: boolean }
---@return { ok: boolean, changed?: boolean, busy?: boolean, error?: string }
function M.replace(payload)
  local bufnr = find(payload.path)
  if not bufnr then
    return not_loaded(payload)
  end
  local answer = require("flemma.edits").apply({
    bufnr = bufnr,
    tick = payload.revision,
    edits = { { "replace", payload.first, payload.last, payload.lines } },
  })
  if answer.ok and vim.bo[bufnr].endofline ~= payload.final_newline then
    vim.bo[bufnr].endofline = payload.final_newline
    vim.bo[bufnr].modified = true
  end
  local changed = not answer.ok and not answer.error
  return { ok = answer.ok, changed = changed, busy = answer.busy, error = answer.error }
end

---@param bufnr integer
---@return boolean
local function changed_on_disk(bufnr)
  local known = on_disk[bufnr]
  local path = vim.api.nvim_buf_get_name(bufnr)
  local stamp = stamp_of(path)
  return known ~= nil and stamp ~= nil and known.path == path and known.mtime ~= stamp
end

---@param bufnr integer
---@return flemma.Outcome
local function write(bufnr)
  if vim.api.nvim_buf_get_name(bufnr) == "" or not vim.bo[bufnr].modified then
    return { ok = true }
  end
  if vim.bo[bufnr].readonly then
    return { ok = false, error = "the buffer is read-only" }
  end
  if changed_on_disk(bufnr) then
    return { ok = false, error = "the file changed on disk since it was read" }
  end
  local fix = vim.bo[bufnr].fixendofline
  -- A file that ends without a newline stays one.
  vim.bo[bufnr].fixendofline = fix and vim.bo[bufnr].endofline
  local ok, reason = pcall(vim.api.nvim_buf_call, bufnr, function()
    -- Forced, so that Neovim asks nothing; what it would ask about was checked above.
    vim.cmd("silent lockmarks write!")
  end)
  vim.bo[bufnr].fixendofline = fix
  return { ok = ok, error = not ok and tostring(reason) or nil }
end

--- Write a buffer without any prompt; refused when another program changed the file meanwhile.
--- A change of a tool that cannot be written is taken back, so that it failed as a whole.
---@param payload { bufnr?: integer, path?: string }
---@return flemma.Outcome
function M.save(payload)
  local bufnr = buffer_of(payload)
  if not bufnr then
    return not_loaded(payload)
  end
  local outcome = write(bufnr)
  if not outcome.ok and payload.path and require("flemma.edits").is_ours(bufnr) then
    vim.api.nvim_buf_call(bufnr, function()
      vim.cmd("silent undo")
    end)
  end
  return outcome
end

--- Read a file again that was changed on disk, unless the buffer has changes of its own.
---@param payload { path: string }
---@return flemma.Outcome
function M.reload(payload)
  local bufnr = find(payload.path)
  if not bufnr then
    return not_loaded(payload)
  end
  if vim.bo[bufnr].modified then
    return { ok = false, error = "the buffer has unsaved changes" }
  end
  local autoread = vim.bo[bufnr].autoread
  vim.bo[bufnr].autoread = true
  local ok, reason = pcall(vim.cmd, ("silent checktime %d"):format(bufnr))
  vim.bo[bufnr].autoread = autoread
  return { ok = ok, error = not ok and tostring(reason) or nil }
end

return M
