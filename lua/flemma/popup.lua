--- The rejection popup: a small editor over the fence of the result, for a reason the model reads.
local config = require("flemma.config")

local M = {}

local PROMPT = "Flemma: Rejection reason (optional): "
local MINIMUM_HEIGHT = 3

---@class flemma.Popup
---@field window integer
---@field bufnr integer scratch buffer
---@field chat integer

---@type flemma.Popup?
local open

---@class flemma.PopupRequest
---@field bufnr integer
---@field tool_use_id string
---@field line integer 0-based first line of the fence
---@field end_line integer
---@field text? string

---@param request flemma.PopupRequest
---@param message string
local function submit(request, message)
  require("flemma.host").notify("rejection", {
    bufnr = request.bufnr,
    tool_use_id = request.tool_use_id,
    message = vim.trim(message),
  })
end

--- Close the popup, if it is open.
function M.close()
  local popup = open
  open = nil
  if not popup then
    return
  end
  if vim.api.nvim_get_mode().mode:find("^i") then
    vim.cmd("stopinsert")
  end
  if vim.api.nvim_win_is_valid(popup.window) then
    vim.api.nvim_win_close(popup.window, true)
  end
end

---@param scratch integer
---@param request flemma.PopupRequest
local function set_keys(scratch, request)
  local function map(modes, keys, action)
    for _, key in ipairs(keys) do
      vim.keymap.set(modes, key, action, { buffer = scratch, nowait = true })
    end
  end
  map({ "n", "i" }, { "<CR>", "<C-]>" }, function()
    local lines = vim.api.nvim_buf_get_lines(scratch, 0, -1, false)
    M.close()
    submit(request, table.concat(lines, "\n"))
  end)
  map({ "n", "i" }, { "<Esc>", "<C-c>" }, M.close)
  map("n", { "q" }, M.close)
  map("i", { "<C-j>", "<S-CR>", "<M-CR>" }, function()
    -- An Enter that is not mapped, before what was typed after it.
    vim.api.nvim_feedkeys(vim.keycode("<CR>"), "ni", false)
  end)
end

---@param window integer of the chat
---@param request flemma.PopupRequest
---@return vim.api.keyset.win_config
local function placement(window, request)
  local height = math.max(MINIMUM_HEIGHT, request.end_line - request.line + 1)
  return {
    relative = "win",
    win = window,
    bufpos = { request.line, 0 },
    row = 0,
    col = 0,
    width = math.max(20, require("flemma.buffers").text_width(window) - 2),
    height = math.min(height, math.max(1, vim.api.nvim_win_get_height(window) - 2)),
    style = "minimal",
    border = { "╌", "╌", "╌", " ", "╌", "╌", "╌", " " },
    title = PROMPT,
    footer = " <CR> reject · <C-j> new line · <Esc> cancel ",
    zindex = 60,
  }
end

---@param request flemma.PopupRequest
local function open_float(request)
  local window = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_buf(window) ~= request.bufnr then
    return -- The user went elsewhere: nothing takes the focus from him there.
  end
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.bo[scratch].bufhidden = "wipe"
  if request.text and request.text ~= "" then
    vim.api.nvim_buf_set_lines(scratch, 0, -1, false, vim.split(request.text, "\n"))
  end
  local float = vim.api.nvim_open_win(scratch, true, placement(window, request))
  vim.wo[float].winhighlight = "NormalFloat:FlemmaRejectionInput,FloatBorder:FlemmaRejectionBorder"
  vim.wo[float].wrap = true
  local blend = config.get("ui.rejection.winblend")
  if type(blend) == "number" then
    vim.wo[float].winblend = blend
  end
  open = { window = float, bufnr = scratch, chat = request.bufnr }
  set_keys(scratch, request)
  vim.api.nvim_create_autocmd("WinLeave", { buffer = scratch, once = true, callback = M.close })
  vim.cmd("startinsert!")
end

---@param request flemma.PopupRequest
local function ask_on_command_line(request)
  vim.ui.input({ prompt = PROMPT, default = request.text }, function(message)
    if message then
      submit(request, message)
    end
  end)
end

--- Ask for the reason. Nothing opens when the result's lines are not there.
---@param request flemma.PopupRequest
function M.open(request)
  M.close()
  vim.schedule(function()
    local bufnr = request.bufnr
    if
      not vim.api.nvim_buf_is_loaded(bufnr)
      or request.line < 0
      or request.end_line >= vim.api.nvim_buf_line_count(bufnr)
    then
      return
    end
    if config.get("ui.rejection.enabled") == false then
      ask_on_command_line(request)
    else
      open_float(request)
    end
  end)
end

--- The chat is gone, and its popup with it.
---@param bufnr integer
function M.forget(bufnr)
  if open and open.chat == bufnr then
    M.close()
  end
end

return M
