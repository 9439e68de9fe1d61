--- The background of the cursor's line, blended with that of its message.
local config = require("flemma.config")
local outline = require("flemma.outline")

local M = {}

local namespace = vim.api.nvim_create_namespace("flemma_cursorline")
local MARK = 1

local GROUPS = {
  frontmatter = "FlemmaLineFrontmatterCursorLine",
  system = "FlemmaLineSystemCursorLine",
  user = "FlemmaLineUserCursorLine",
  assistant = "FlemmaLineAssistantCursorLine",
}

--- The cursor moved in a chat buffer, or the view changed.
---@param bufnr integer
function M.moved(bufnr)
  if vim.api.nvim_get_current_buf() ~= bufnr then
    return
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local located = vim.wo.cursorline
    and config.get("line_highlights.enabled") ~= false
    and outline.at(bufnr, line)
  local group = located and GROUPS[located.message.role]
  if not group then
    vim.api.nvim_buf_del_extmark(bufnr, namespace, MARK)
    return
  end
  vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, {
    id = MARK,
    line_hl_group = group,
    priority = 125,
  })
end

return M
