--- The text of closed folds: what the host says of them, fitted to the window.
local outline = require("flemma.outline")
local text = require("flemma.text")

local M = {}

local MARGIN = 12 -- columns below which another preview is not begun

---@param entries flemma.Chunk[][]
---@param room integer columns
---@return flemma.Chunk[]
local function fit_entries(entries, room)
  local chunks = {}
  for index, entry in ipairs(entries) do
    local left = #entries - index + 1
    local separator = index > 1 and " | " or ""
    if index > 1 and room - text.width(separator) < MARGIN then
      table.insert(chunks, { (" (+%d more)"):format(left), "FlemmaFoldMeta" })
      return chunks
    end
    if separator ~= "" then
      table.insert(chunks, { separator, "FlemmaFoldMeta" })
      room = room - text.width(separator)
    end
    local fitted = text.truncate_chunks(entry, room)
    vim.list_extend(chunks, fitted)
    room = room - text.chunks_width(fitted)
  end
  return chunks
end

--- Compose the text of a closed fold.
---@param fold flemma.Fold
---@param lines integer how many lines it hides
---@param columns integer
---@return flemma.Chunk[]
function M.compose(fold, lines, columns)
  local suffix = { (" (%d lines)"):format(lines), "FlemmaFoldMeta" }
  local taken = text.chunks_width(fold.head)
    + text.chunks_width(fold.tail)
    + text.width(suffix[1])
    + (#fold.entries > 1 and text.width(" (+99 more)") or 0)
  local chunks = vim.list_slice(fold.head)
  vim.list_extend(chunks, fit_entries(fold.entries, math.max(0, columns - taken)))
  vim.list_extend(chunks, fold.tail)
  table.insert(chunks, suffix)
  return chunks
end

--- The value of 'foldtext'.
---@return string|flemma.Chunk[]
function M.text()
  local first, last = vim.v.foldstart, vim.v.foldend
  local located = outline.at(vim.api.nvim_get_current_buf(), first - 1)
  local best
  for _, fold in ipairs(located and located.message.folds or {}) do
    if located.line + fold.row == first - 1 then
      -- Of two folds that start here the one of the closed fold's extent is meant.
      if not best or located.line + fold.end_row == last - 1 then
        best = fold
      end
    end
  end
  if not best then
    return vim.fn.foldtext()
  end
  local window = vim.api.nvim_get_current_win()
  return M.compose(best, last - first + 1, require("flemma.buffers").text_width(window))
end

return M
