--- Request progress: words at the end of the answer's marker line, or in a bar while the line is out
--- of sight. Time and animation run here; the host tells phases and counts.
local config = require("flemma.config")
local outline = require("flemma.outline")
local spinner = require("flemma.spinner")
local text = require("flemma.text")

local M = {}

local INTERVAL = 100 -- milliseconds
local BAR = "progress"
local namespace = vim.api.nvim_create_namespace("flemma_progress")

local FRAMES = {
  waiting = vim.split("⠁ ⠈ ⠐ ⠠ ⢀ ⡀ ⠄ ⠂", " "),
  thinking = vim.split("⠋ ⠙ ⠹ ⠸ ⠼ ⠴ ⠦ ⠧ ⠇ ⠏", " "),
  streaming = vim.split("⣾ ⣷ ⣯ ⣟ ⡿ ⢿ ⣻ ⣽", " "),
  buffering = vim.split("⢄ ⢂ ⢁ ⡁ ⡈ ⡐ ⡠", " "),
}
local HALF_SPEED = { buffering = true }

--- Phases whose words stand at the marker line; the others have text of the answer to show.
local AT_LINE = { waiting = true, thinking = true }

---@class flemma.Progress
---@field bufnr integer
---@field phase string
---@field characters integer
---@field tool? string
---@field message? string
---@field timeout? number seconds
---@field started integer milliseconds of the loop's clock

---@type table<integer, flemma.Progress>
local running = {}
---@type uv.uv_timer_t?
local timer
local step = 0

---@param number number
---@return string
local function one_decimal(number)
  return (("%.1f"):format(number):gsub("%.0$", ""))
end

--- A count as the host writes it (flemma/models/formats.py): `3,999`, `4K`, `4.5K`, `1.2M`.
---@param number integer
---@return string
function M.count(number)
  if number >= 999950 then
    return one_decimal(number / 1000000) .. "M"
  elseif number >= 4000 then
    return one_decimal(number / 1000) .. "K"
  elseif number >= 1000 then
    return ("%d,%03d"):format(math.floor(number / 1000), number % 1000)
  end
  return tostring(number)
end

---@param number integer
---@return string
local function characters(number)
  return ("%s character%s"):format(M.count(number), number == 1 and "" or "s")
end

---@param progress flemma.Progress
---@return string
local function words(progress)
  if progress.message then
    return progress.message
  elseif progress.phase == "waiting" then
    return "Waiting…"
  elseif progress.phase == "buffering" and progress.tool then
    return ("%s · %s"):format(progress.tool, characters(progress.characters))
  end
  return characters(progress.characters)
end

---@param progress flemma.Progress
---@return string text
---@return string group
local function composed(progress)
  local frames = FRAMES[progress.phase] or FRAMES.waiting
  local frame = frames[math.floor(step / (HALF_SPEED[progress.phase] and 2 or 1)) % #frames + 1]
  local elapsed = (vim.uv.now() - progress.started) / 1000
  local line = ("%s %s · %s"):format(frame, words(progress), spinner.duration(elapsed))
  local share = progress.timeout and progress.timeout > 0 and elapsed / progress.timeout or 0
  if share < 0.8 then
    return line, "FlemmaAssistantSpinner"
  end
  line = ("%s · timeout in %s"):format(line, spinner.duration(progress.timeout - elapsed))
  return line, share >= 0.9 and "FlemmaProgressBarError" or "FlemmaProgressBarWarning"
end

---@param bufnr integer
---@return integer? line 0-based
local function marker_line(bufnr)
  local last = outline.last(bufnr)
  return last and last.message.role == "assistant" and last.line or nil
end

---@param bufnr integer
---@param line integer 0-based
---@return boolean
local function is_visible(bufnr, line)
  return vim.iter(vim.fn.win_findbuf(bufnr)):any(function(window)
    local info = vim.fn.getwininfo(window)[1]
    return info.topline <= line + 1 and line + 1 <= info.botline
  end)
end

---@param bufnr integer
---@param line integer 0-based
---@param label string
---@param group string
local function draw_at_line(bufnr, line, label, group)
  local content = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1] or ""
  local filler = math.max(1, require("flemma.buffers").width(bufnr) - #content - text.width(label))
  vim.api.nvim_buf_set_extmark(bufnr, namespace, line, math.max(0, #content - 1), {
    id = 1,
    virt_text = { { " " }, { label, group }, { (" "):rep(filler) } },
    virt_text_pos = "overlay",
    priority = 300,
  })
end

---@param progress flemma.Progress
---@param label string
---@param group string
local function draw_bar(progress, label, group)
  local item = { text = label, priority = 1 }
  if group ~= "FlemmaAssistantSpinner" then
    item.group = group
  end
  require("flemma.bar").show({
    bufnr = progress.bufnr,
    name = BAR,
    position = config.get("ui.progress.position") or "bottom left",
    group = config.get("ui.progress.highlight") or "FlemmaProgressBar",
    segments = { { items = { item } } },
  })
end

---@param progress flemma.Progress
local function draw(progress)
  local bufnr = progress.bufnr
  local line = marker_line(bufnr)
  local label, group = composed(progress)
  local at_line = line and AT_LINE[progress.phase]
  if at_line then
    draw_at_line(bufnr, line --[[@as integer]], label, group)
  else
    vim.api.nvim_buf_del_extmark(bufnr, namespace, 1)
  end
  if
    at_line and is_visible(bufnr, line --[[@as integer]])
  then
    require("flemma.bar").hide(bufnr, BAR)
  else
    draw_bar(progress, label, group)
  end
end

local function stop_timer()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

---@param bufnr integer
local function stop(bufnr)
  running[bufnr] = nil
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_del_extmark(bufnr, namespace, 1)
  end
  require("flemma.bar").hide(bufnr, BAR)
  if next(running) == nil then
    stop_timer()
  end
end

local function tick()
  step = step + 1
  for bufnr, progress in pairs(running) do
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      stop(bufnr)
    elseif #vim.fn.win_findbuf(bufnr) > 0 and vim.fn.getcmdwintype() == "" then
      draw(progress)
    end
  end
end

--- Show progress; a payload without a phase ends it.
---@param payload { bufnr: integer, phase?: string, characters?: integer, tool?: string, message?: string, timeout?: number }
function M.show(payload)
  local bufnr = payload.bufnr
  if not payload.phase or not vim.api.nvim_buf_is_loaded(bufnr) then
    stop(bufnr)
    return
  end
  local earlier = running[bufnr]
  running[bufnr] = {
    bufnr = bufnr,
    phase = payload.phase,
    characters = payload.characters or 0,
    tool = payload.tool,
    message = payload.message,
    timeout = payload.timeout or (earlier and earlier.timeout),
    started = earlier and earlier.started or vim.uv.now(),
  }
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(0, INTERVAL, vim.schedule_wrap(tick))
  end
end

--- Draw again, as the text or the window changed.
---@param bufnr? integer all buffers if none is given
function M.redraw(bufnr)
  for number, progress in pairs(running) do
    if (not bufnr or number == bufnr) and vim.api.nvim_buf_is_loaded(number) then
      draw(progress)
    end
  end
end

--- Whether anything is in progress; a timer runs exactly then.
---@return boolean
function M.is_running()
  return timer ~= nil
end

--- End all: nobody is left to do it.
---@return integer[] buffers that had something in progress
function M.stop_all()
  local stopped = vim.tbl_keys(running)
  for _, bufnr in ipairs(stopped) do
    stop(bufnr)
  end
  return stopped
end

--- Drop what is kept of a buffer that is gone.
M.forget = stop

return M
