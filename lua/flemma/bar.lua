--- One-line floats at the edges of a chat's windows.
local patience = require("flemma.patience")
local spinner = require("flemma.spinner")
local text = require("flemma.text")

local M = {}

--- Edges and corners; two bars of one buffer conflict when they share cells.
local CONFLICTS = {
  top = { "top", "top left", "top right" },
  bottom = { "bottom", "bottom left", "bottom right" },
  ["top left"] = { "top", "top left" },
  ["top right"] = { "top", "top right" },
  ["bottom left"] = { "bottom", "bottom left" },
  ["bottom right"] = { "bottom", "bottom right" },
}

---@class flemma.ShownBar
---@field bar flemma.Bar
---@field frame? string present sign of the animation, for a bar that has one
---@field floats table<integer, integer> float by window
---@field scratch integer
---@field waiting? boolean whether it is yet to be drawn
---@field timer? uv.uv_timer_t

---@type table<integer, table<string, flemma.ShownBar>> by buffer and name
local bars = {}
local namespace = vim.api.nvim_create_namespace("flemma_bar")

---@param item flemma.BarItem
---@param frame string
---@return string
local function item_text(item, frame)
  local words = item.text
  if item.spinner then
    words = frame .. " " .. words
  end
  if item.deadline then
    local left = math.ceil(item.deadline - vim.fn.localtime())
    words = words .. " " .. spinner.duration(left)
  end
  return words
end

---@param segment flemma.BarSegment
---@param threshold number lowest priority shown
---@param gap string between two items
---@param frame string
---@return flemma.Chunk[] chunks none when no item is shown
local function compose_segment(segment, threshold, gap, frame)
  local chunks = {}
  for _, item in ipairs(segment.items) do
    if item.priority >= threshold then
      table.insert(chunks, { (#chunks > 0 and gap or "") .. item_text(item, frame), item.group })
    end
  end
  if #chunks > 0 and segment.label then
    table.insert(chunks, 1, { segment.label .. gap, "FlemmaUsageBarMuted" })
  end
  return chunks
end

---@param segments flemma.BarSegment[]
---@param threshold number
---@param wide boolean
---@param frame string
---@return flemma.Chunk[]
local function compose(segments, threshold, wide, frame)
  local gap = wide and "  " or " "
  local chunks = {}
  for _, segment in ipairs(segments) do
    local part = compose_segment(segment, threshold, gap, frame)
    if #part > 0 and #chunks > 0 then
      table.insert(chunks, { gap .. "│" .. gap, "FlemmaUsageBarMuted" })
    end
    vim.list_extend(chunks, part)
  end
  return chunks
end

--- Choose what fits: items by descending priority, those of equal priority all or none; then wider
--- gaps when there is room for them.
---@param segments flemma.BarSegment[]
---@param columns integer
---@param frame? string sign of the items that are animated
---@return flemma.Chunk[]
function M.fit(segments, columns, frame)
  local priorities = {}
  for _, segment in ipairs(segments) do
    for _, item in ipairs(segment.items) do
      priorities[item.priority] = true
    end
  end
  local ascending = vim.tbl_keys(priorities)
  table.sort(ascending)
  for _, threshold in ipairs(ascending) do
    for _, wide in ipairs({ true, false }) do
      local chunks = compose(segments, threshold, wide, frame or "")
      if text.chunks_width(chunks) <= columns then
        return chunks
      end
    end
  end
  return text.truncate_chunks(
    compose(segments, ascending[#ascending] or 0, false, frame or ""),
    columns
  )
end

---@param shown flemma.ShownBar
---@param chunks flemma.Chunk[]
local function write(shown, chunks)
  local parts = {}
  for _, chunk in ipairs(chunks) do
    table.insert(parts, chunk[1])
  end
  vim.api.nvim_buf_set_lines(shown.scratch, 0, -1, false, { table.concat(parts) })
  vim.api.nvim_buf_clear_namespace(shown.scratch, namespace, 0, -1)
  local column = 0
  for _, chunk in ipairs(chunks) do
    if chunk[2] then
      vim.api.nvim_buf_set_extmark(shown.scratch, namespace, 0, column, {
        end_col = column + #chunk[1],
        hl_group = chunk[2],
      })
    end
    column = column + #chunk[1]
  end
end

---@param window integer
---@param position string
---@param width integer
---@return vim.api.keyset.win_config
local function placement(window, position, width)
  local info = vim.fn.getwininfo(window)[1]
  local columns = info.width
  local is_corner = position:find("left") or position:find("right")
  local shown_width = is_corner and math.min(width, columns) or columns
  return {
    relative = "win",
    win = window,
    row = position:find("^top") and 0 or info.height - 1,
    col = position:find("right") and columns - shown_width or 0,
    width = math.max(1, shown_width),
    height = 1,
    style = "minimal",
    focusable = false,
    zindex = 40,
    noautocmd = true,
    border = "none",
  }
end

---@param shown flemma.ShownBar
---@param window integer
---@param width integer
local function float(shown, window, width)
  local options = placement(window, shown.bar.position, width)
  local existing = shown.floats[window]
  if existing and vim.api.nvim_win_is_valid(existing) then
    options.noautocmd = nil
    vim.api.nvim_win_set_config(existing, options)
    return
  end
  local opened = vim.api.nvim_open_win(shown.scratch, false, options)
  local group = require("flemma.highlights").first(shown.bar.group or "FlemmaUsageBar")
  vim.wo[opened].winhighlight = "Normal:" .. group
  vim.wo[opened].wrap = false
  shown.floats[window] = opened
end

---@param shown flemma.ShownBar
---@param windows table<integer, boolean> windows that keep their float
local function close_floats(shown, windows)
  for window, opened in pairs(shown.floats) do
    if not windows[window] then
      if vim.api.nvim_win_is_valid(opened) then
        vim.api.nvim_win_close(opened, true)
      end
      shown.floats[window] = nil
    end
  end
end

---@param bufnr integer
---@param shown flemma.ShownBar
local function draw(bufnr, shown)
  local keep = {}
  local prefix = shown.bar.icon and (shown.bar.icon .. " ") or ""
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local columns = vim.api.nvim_win_get_width(window)
    local chunks = { { " " .. prefix } }
    vim.list_extend(
      chunks,
      M.fit(shown.bar.segments, columns - text.width(prefix) - 2, shown.frame)
    )
    table.insert(chunks, { " " })
    write(shown, chunks)
    float(shown, window, text.chunks_width(chunks))
    keep[window] = true
  end
  close_floats(shown, keep)
end

--- Draw a bar, if not now then as soon as the editor lets us.
---@param bufnr integer
---@param shown flemma.ShownBar
local function render(bufnr, shown)
  if shown.waiting then
    return
  end
  shown.waiting = true
  local ok, reason = pcall(patience.run, function()
    if bars[bufnr] and bars[bufnr][shown.bar.name] == shown then
      draw(bufnr, shown)
    end
    shown.waiting = false
  end)
  if not ok then
    shown.waiting = false
    error(reason, 0)
  end
end

---@param bar flemma.Bar
---@return string
local function animation(bar)
  return ("bar:%d:%s"):format(bar.bufnr, bar.name)
end

---@param bar flemma.Bar
---@return boolean
local function is_animated(bar)
  for _, segment in ipairs(bar.segments) do
    for _, item in ipairs(segment.items) do
      if item.spinner or item.deadline then
        return true
      end
    end
  end
  return false
end

--- Draw a bar, again and again if it is animated.
---@param bufnr integer
---@param shown flemma.ShownBar
local function animate(bufnr, shown)
  if not is_animated(shown.bar) then
    spinner.remove(animation(shown.bar))
    render(bufnr, shown)
    return
  end
  spinner.add(animation(shown.bar), {
    bufnr = bufnr,
    started = os.time(),
    draw = function(frame)
      shown.frame = frame
      render(bufnr, shown)
    end,
  })
end

---@param shown flemma.ShownBar
local function stop_timer(shown)
  if shown.timer and not shown.timer:is_closing() then
    shown.timer:stop()
    shown.timer:close()
  end
  shown.timer = nil
end

---@param shown flemma.ShownBar
local function discard(shown)
  patience.run(function()
    close_floats(shown, {})
    if vim.api.nvim_buf_is_valid(shown.scratch) then
      vim.api.nvim_buf_delete(shown.scratch, { force = true })
    end
  end)
end

--- Take a bar away.
---@param bufnr integer
---@param name string
function M.hide(bufnr, name)
  local shown = bars[bufnr] and bars[bufnr][name]
  if not shown then
    return
  end
  bars[bufnr][name] = nil
  stop_timer(shown)
  spinner.remove(animation(shown.bar))
  discard(shown)
end

---@param bar flemma.Bar
local function displace(bar)
  local conflicts = CONFLICTS[bar.position]
    or error(("there is no bar position '%s'"):format(bar.position), 0)
  for name, shown in pairs(bars[bar.bufnr] or {}) do
    if name ~= bar.name and vim.list_contains(conflicts, shown.bar.position) then
      M.hide(bar.bufnr, name)
    end
  end
end

---@param shown flemma.ShownBar
local function limit(shown)
  stop_timer(shown)
  local timeout = shown.bar.timeout or 0
  if timeout > 0 then
    shown.timer = vim.defer_fn(function()
      M.hide(shown.bar.bufnr, shown.bar.name)
    end, timeout)
  end
end

--- Show a bar, in place of those it would cover; without segments, take it away.
---@param bar flemma.Bar
function M.show(bar)
  if not bar.segments or #bar.segments == 0 or not vim.api.nvim_buf_is_loaded(bar.bufnr) then
    M.hide(bar.bufnr, bar.name)
    return
  end
  displace(bar)
  bars[bar.bufnr] = bars[bar.bufnr] or {}
  local shown = bars[bar.bufnr][bar.name]
  if shown and shown.bar.position ~= bar.position then
    M.hide(bar.bufnr, bar.name)
    shown = nil
  end
  if not shown then
    shown = { floats = {}, scratch = vim.api.nvim_create_buf(false, true) }
    bars[bar.bufnr][bar.name] = shown
  end
  shown.bar = bar
  animate(bar.bufnr, shown)
  limit(shown)
end

--- Windows changed: every bar takes its place anew.
function M.redraw()
  for bufnr, named in pairs(bars) do
    for _, shown in pairs(named) do
      render(bufnr, shown)
    end
  end
end

--- The host is gone: what it was doing is not going on any more.
function M.stop_animated()
  for bufnr, named in pairs(bars) do
    for name, shown in pairs(named) do
      if is_animated(shown.bar) then
        M.hide(bufnr, name)
      end
    end
  end
end

--- Take all bars of a buffer away.
---@param bufnr integer
function M.forget(bufnr)
  for name in pairs(bars[bufnr] or {}) do
    M.hide(bufnr, name)
  end
  bars[bufnr] = nil
end

return M
