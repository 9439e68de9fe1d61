--- Draws one mark. Each kind is a function from a mark and its line to extmarks.
local config = require("flemma.config")

local M = {}

M.namespace = vim.api.nvim_create_namespace("flemma_view")

local PRIORITY = {
  line = 50,
  thinking = 100,
  text = 200,
  status = 250,
  spinner = 300,
}

---@class flemma.Canvas
---@field bufnr integer
---@field line integer 0-based line of the message
---@field width integer columns for text

---@param canvas flemma.Canvas
---@param row integer
---@param column integer
---@param options vim.api.keyset.set_extmark
---@return integer id
local function put(canvas, row, column, options)
  options.strict = false
  return vim.api.nvim_buf_set_extmark(canvas.bufnr, M.namespace, canvas.line + row, column, options)
end

---@type table<string, fun(canvas: flemma.Canvas, mark: flemma.Mark): integer[]>
local KINDS = {}

function KINDS.line(canvas, mark)
  if config.get("line_highlights.enabled") == false then
    return {}
  end
  local is_thinking = mark.group == "FlemmaThinkingBlock"
  return {
    put(canvas, mark.row, 0, {
      end_row = canvas.line + (mark.end_row or mark.row),
      line_hl_group = mark.group,
      priority = is_thinking and PRIORITY.thinking or PRIORITY.line,
    }),
  }
end

---@param canvas flemma.Canvas
---@param row integer
---@return integer bytes
local function line_length(canvas, row)
  local line = canvas.line + row
  local content = vim.api.nvim_buf_get_lines(canvas.bufnr, line, line + 1, false)[1]
  return content and #content or 0
end

function KINDS.text(canvas, mark)
  local end_row = mark.end_row or mark.row
  local end_column = mark.end_column or -1
  if end_column < 0 then
    end_column = line_length(canvas, end_row)
  end
  return {
    put(canvas, mark.row, mark.column or 0, {
      end_row = canvas.line + end_row,
      end_col = end_column,
      hl_group = mark.group,
      priority = PRIORITY.text,
    }),
  }
end

function KINDS.ruler(canvas, mark)
  if config.get("ruler.enabled") == false then
    return KINDS.text(canvas, mark)
  end
  local char = config.get("ruler.char") or "─"
  local first, last = mark.column or 1, mark.end_column or -1
  -- As long as the screen is wide: the window cuts it, and no resize has to draw it again.
  local rest = char:rep(vim.o.columns)
  return {
    put(canvas, mark.row, 0, {
      virt_text = { { char, "FlemmaRuler" } },
      virt_text_pos = "overlay",
      priority = PRIORITY.text,
    }),
    put(canvas, mark.row, first, {
      virt_text = { { " ", "FlemmaRuler" } },
      virt_text_pos = "inline",
      end_col = last,
      hl_group = mark.group,
      priority = PRIORITY.text,
      right_gravity = false,
    }),
    put(canvas, mark.row, last, {
      virt_text = { { " " .. rest, "FlemmaRuler" } },
      virt_text_pos = "overlay",
      priority = PRIORITY.text,
    }),
  }
end

---@param canvas flemma.Canvas
---@param mark flemma.Mark
---@param id? integer
---@param label string
---@return integer id
local function put_status(canvas, mark, id, label)
  return put(canvas, mark.row, 0, {
    id = id,
    virt_text = { { " ⬢ ", "FlemmaToolIcon" }, { label, mark.group } },
    virt_text_pos = "eol",
    priority = mark.spinner and PRIORITY.spinner or PRIORITY.status,
  })
end

---@param canvas flemma.Canvas
---@param mark flemma.Mark
---@param id integer
local function animate(canvas, mark, id)
  require("flemma.spinner").add(("%d:%d"):format(canvas.bufnr, id), {
    bufnr = canvas.bufnr,
    started = mark.started or os.time(),
    draw = function(frame, elapsed)
      local position = vim.api.nvim_buf_get_extmark_by_id(canvas.bufnr, M.namespace, id, {})
      if position[1] then
        local here = { bufnr = canvas.bufnr, line = position[1] - mark.row, width = canvas.width }
        put_status(here, mark, id, ("%s %s%s"):format(frame, mark.text or "", elapsed))
      end
    end,
  })
end

function KINDS.status(canvas, mark)
  local id = put_status(canvas, mark, nil, mark.text or "")
  if mark.spinner then
    animate(canvas, mark, id)
  end
  return { id }
end

--- Whether a window on the buffer conceals. Markdown hides the lines of fences then, and with a line
--- its virtual lines.
---@param bufnr integer
---@return boolean
local function is_concealed(bufnr)
  return vim.iter(vim.fn.win_findbuf(bufnr)):any(function(window)
    return vim.wo[window].conceallevel > 0
  end)
end

function KINDS.preview(canvas, mark)
  local row = is_concealed(canvas.bufnr) and mark.row - 1 or mark.row
  local options = vim.bo[canvas.bufnr]
  local indent = options.shiftwidth > 0 and options.shiftwidth or options.tabstop
  return {
    put(canvas, row, 0, {
      virt_lines = require("flemma.preview").lines(mark, canvas.width, indent),
      priority = PRIORITY.text,
    }),
  }
end

--- What the width of a kind of mark comes from, if it has one.
---@type table<string, "window"|"screen">
M.WIDTH = { preview = "window", ruler = "screen" }

--- Draw a mark.
---@param canvas flemma.Canvas
---@param mark flemma.Mark
---@return integer[] extmarks
function M.mark(canvas, mark)
  local kind = KINDS[mark.kind]
  if not kind then
    error(("the host sent a mark of unknown kind '%s'"):format(tostring(mark.kind)))
  end
  return kind(canvas, mark)
end

--- Take an extmark away, and its animation.
---@param bufnr integer
---@param id integer
function M.erase(bufnr, id)
  require("flemma.spinner").remove(("%d:%d"):format(bufnr, id))
  vim.api.nvim_buf_del_extmark(bufnr, M.namespace, id)
end

return M
