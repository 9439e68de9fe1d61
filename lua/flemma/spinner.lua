--- Animated indicators: one timer for all of them, running only while there are some.
local M = {}

local INTERVAL = 200 -- milliseconds
local FRAMES = vim.split("⠋ ⠙ ⠹ ⠸ ⠼ ⠴ ⠦ ⠧ ⠇ ⠏", " ")
local SHOW_ELAPSED_AFTER = 2 -- seconds

---@class flemma.Spinner
---@field bufnr integer
---@field draw fun(frame: string, elapsed: string)
---@field started number

---@type table<string, flemma.Spinner>
local spinners = {}
---@type uv.uv_timer_t?
local timer
local step = 0

--- A time in words as short as they can be: `45s`, `3m 5s`, `1h 0m 2s`.
---@param seconds number
---@return string
function M.duration(seconds)
  seconds = math.max(0, math.floor(seconds))
  local minutes, rest = math.floor(seconds / 60), seconds % 60
  if minutes == 0 then
    return rest .. "s"
  elseif minutes < 60 then
    return ("%dm %ds"):format(minutes, rest)
  end
  return ("%dh %dm %ds"):format(math.floor(minutes / 60), minutes % 60, rest)
end

---@param spinner flemma.Spinner
local function draw(spinner)
  local elapsed = os.time() - spinner.started
  spinner.draw(
    FRAMES[step % #FRAMES + 1],
    elapsed >= SHOW_ELAPSED_AFTER and (" · " .. M.duration(elapsed)) or ""
  )
end

local function stop()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

local function tick()
  if next(spinners) == nil then
    stop()
    return
  end
  step = step + 1
  for id, spinner in pairs(spinners) do
    if not vim.api.nvim_buf_is_loaded(spinner.bufnr) then
      spinners[id] = nil
    elseif #vim.fn.win_findbuf(spinner.bufnr) > 0 then
      draw(spinner)
    end
  end
end

--- Animate something until `remove` is called with the same id.
---@param id string
---@param spinner flemma.Spinner
function M.add(id, spinner)
  spinners[id] = spinner
  draw(spinner)
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(INTERVAL, INTERVAL, vim.schedule_wrap(tick))
  end
end

--- Stop animating.
---@param id string
function M.remove(id)
  spinners[id] = nil
  if next(spinners) == nil then
    stop()
  end
end

--- Stop all.
---@return integer count how many there were
function M.clear()
  local count = vim.tbl_count(spinners)
  spinners = {}
  stop()
  return count
end

--- Whether anything is animated; a timer runs exactly then.
---@return boolean
function M.is_running()
  return timer ~= nil
end

return M
