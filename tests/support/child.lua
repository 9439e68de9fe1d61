-- Loaded by every Neovim of the test harness before any plugin.
local M = { notifications = {} }

-- The default shows errors with a prompt that waits for a key; a list can be asked instead.
---@diagnostic disable-next-line: duplicate-set-field
vim.notify = function(message, level)
  table.insert(M.notifications, { tostring(message), level or vim.log.levels.INFO })
end

--- Start to watch the main loop: each millisecond it should turn, the longest gap is kept.
function M.start_measuring()
  local last = vim.uv.hrtime()
  M.longest = 0
  M.timer = assert(vim.uv.new_timer())
  M.timer:start(0, 1, function()
    local now = vim.uv.hrtime()
    M.longest = math.max(M.longest, now - last)
    last = now
  end)
end

--- Stop watching and return the longest gap in milliseconds.
function M.stop_measuring()
  M.timer:stop()
  M.timer:close()
  return M.longest / 1e6
end

_G.flemma_test = M
