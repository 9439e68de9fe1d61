--- Chat buffers: attaching them, and telling the host what happens to them.
local host = require("flemma.host")

local M = {}

local CHANGED_DELAY = 150 -- milliseconds until a change in normal mode is reported
local UNNAMED_WIDTH = 80

---@type table<integer, boolean>
local attached = {}
---@type table<integer, uv.uv_timer_t>
local timers = {}
local group = vim.api.nvim_create_augroup("flemma", { clear = true })

--- Whether a buffer is a chat that is attached.
---@param bufnr integer
---@return boolean
function M.is_attached(bufnr)
  return attached[bufnr] == true
end

--- All attached buffers.
---@return integer[]
function M.all()
  return vim.tbl_keys(attached)
end

--- Columns for text in a window: without signs, numbers and folds.
---@param window integer
---@return integer
function M.text_width(window)
  local info = vim.fn.getwininfo(window)[1]
  return info and math.max(1, info.width - info.textoff) or UNNAMED_WIDTH
end

--- Columns for text in the first window of a buffer; 80 when it has none.
---@param bufnr integer
---@return integer
function M.width(bufnr)
  local window = vim.fn.win_findbuf(bufnr)[1]
  return window and M.text_width(window) or UNNAMED_WIDTH
end

---@type table<integer, boolean> buffers that were empty when they were opened
local empty = {}

---@param bufnr integer
---@return boolean
local function is_empty(bufnr)
  return vim.api.nvim_buf_line_count(bufnr) == 1
    and vim.api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
end

---@param bufnr integer
---@param restarted boolean
---@param broken_off boolean
local function announce(bufnr, restarted, broken_off)
  local name = vim.api.nvim_buf_get_name(bufnr)
  host.notify("buffer:opened", {
    bufnr = bufnr,
    path = name ~= "" and vim.fn.fnamemodify(name, ":p") or "",
    width = M.width(bufnr),
    restarted = restarted,
    broken_off = broken_off,
    empty = empty[bufnr] == true,
  })
  empty[bufnr] = nil
end

--- Tell a host that is ready of all chat buffers.
---@param restarted boolean whether an earlier host broke off
---@param broken_off table<integer, boolean> the buffers whose request ended with it
function M.announce_all(restarted, broken_off)
  for _, bufnr in ipairs(M.all()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      announce(bufnr, restarted, broken_off[bufnr] == true)
    end
  end
end

---@param bufnr integer
local function stop_timer(bufnr)
  local timer = timers[bufnr]
  if timer then
    timers[bufnr] = nil
    timer:stop()
    timer:close()
  end
end

--- Report a change once the user pauses.
---@param bufnr integer
local function changed(bufnr)
  stop_timer(bufnr)
  timers[bufnr] = vim.defer_fn(function()
    timers[bufnr] = nil
    if attached[bufnr] then
      host.notify("text:changed", { bufnr = bufnr })
    end
  end, CHANGED_DELAY)
end

---@param bufnr integer
local function detach(bufnr)
  if not attached[bufnr] then
    return
  end
  attached[bufnr], empty[bufnr] = nil, nil
  stop_timer(bufnr)
  host.notify("buffer:closed", { bufnr = bufnr })
  for _, name in ipairs({ "cursor", "edits", "lock", "progress", "marks", "popup", "bar" }) do
    require("flemma." .. name).forget(bufnr)
  end
end

---@param bufnr integer
---@param event string|string[]
---@param handler fun(event: table)
local function on(bufnr, event, handler)
  vim.api.nvim_create_autocmd(event, { group = group, buffer = bufnr, callback = handler })
end

---@param bufnr integer
local function watch(bufnr)
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  on(bufnr, "BufEnter", function()
    require("flemma.editing").entered()
    host.notify("buffer:entered", { bufnr = bufnr })
  end)
  on(bufnr, "BufLeave", function()
    require("flemma.editing").left()
  end)
  on(bufnr, "BufWinEnter", function()
    require("flemma.editing").shown(vim.api.nvim_get_current_win(), bufnr)
  end)
  local inserting = false
  local function left()
    if inserting then
      inserting = false
      require("flemma.folds").resume(bufnr)
      require("flemma.cursor").moved(bufnr)
      host.notify("insert:left", { bufnr = bufnr })
    end
  end
  on(bufnr, "InsertEnter", function()
    inserting = true
    require("flemma.insert").entered(bufnr)
    host.notify("insert:entered", { bufnr = bufnr })
  end)
  on(bufnr, "InsertLeave", left)
  on(bufnr, "ModeChanged", function()
    -- <C-c> leaves insert mode without InsertLeave.
    if vim.v.event.new_mode == "n" then
      left()
    end
  end)
  on(bufnr, "ModeChanged", function()
    if vim.v.event.old_mode:find("^[vVsS\22\19]") then
      require("flemma.folds").resume(bufnr)
      require("flemma.cursor").moved(bufnr)
    end
  end)
  on(bufnr, "InsertCharPre", function()
    require("flemma.insert").typed(bufnr)
  end)
  on(bufnr, "TextChanged", function()
    require("flemma.marks").edited(bufnr)
    changed(bufnr)
  end)
  on(bufnr, "TextChangedI", function()
    require("flemma.marks").edited(bufnr)
  end)
  on(bufnr, { "CursorMoved", "CursorMovedI" }, function()
    require("flemma.cursor").moved(bufnr)
    require("flemma.cursorline").moved(bufnr)
  end)
  on(bufnr, "BufFilePost", function()
    announce(bufnr, false, false)
  end)
  on(bufnr, "BufUnload", function()
    -- `:edit` unloads a buffer too, and loads it again at once: what runs in it goes on.
    vim.schedule(function()
      if not vim.api.nvim_buf_is_loaded(bufnr) then
        detach(bufnr)
      end
    end)
  end)
  on(bufnr, "BufWipeout", function()
    detach(bufnr)
  end)
end

--- Screen-wide events, from the first chat on.
local function watch_screen()
  require("flemma.files").watch()
  require("flemma.interrupt").watch()
  vim.api.nvim_create_autocmd({ "WinResized", "VimResized" }, {
    group = group,
    callback = function(event)
      for _, bufnr in ipairs(M.all()) do
        host.notify("resized", { bufnr = bufnr, width = M.width(bufnr) })
        local width = event.event == "VimResized" and "screen" or "window"
        require("flemma.marks").redraw(bufnr, width)
      end
      require("flemma.bar").redraw()
      require("flemma.progress").redraw()
    end,
  })
  vim.api.nvim_create_autocmd("VimLeavePre", { group = group, callback = host.quit })
  watch_screen = function() end
end

--- Take a chat buffer: options, keys, events, and the host.
---@param bufnr integer
function M.attach(bufnr)
  attached[bufnr] = true
  empty[bufnr] = is_empty(bufnr)
  local is_ready = host.status() == "ready"
  if not is_ready then
    -- First of all, so that it starts while the editor does its part.
    host.ensure_started()
  end
  watch_screen()
  watch(bufnr)
  require("flemma.highlights").define()
  require("flemma.icons").register()
  require("flemma.keymaps").set(bufnr)
  require("flemma.editing").opened(bufnr)
  require("flemma.lsp").attach(bufnr)
  require("flemma.marks").forget(bufnr)
  if is_ready then
    announce(bufnr, false, false)
  end
end

return M
