--- Fitting text to columns of the screen.
local M = {}

--- Columns of a text.
M.width = vim.api.nvim_strwidth

--- The sign that stands for a line break in one-line texts.
---@return string
function M.newline_sign()
  local listchars = vim.opt.listchars:get()
  return listchars.eol or "↵"
end

--- The text in one line.
---@param text string
---@return string
function M.one_line(text)
  return (text:gsub("\r?\n", (M.newline_sign():gsub("%%", "%%%%"))))
end

--- Cut a text to at most `columns`, ending in `…` when something was cut.
---@param text string
---@param columns integer
---@return string
function M.truncate(text, columns)
  if columns <= 0 then
    return ""
  end
  if M.width(text) <= columns then
    return text
  end
  -- The number of characters whose width is within the limit, found by halving. What is drawn as one
  -- (a letter with its accents, a joined emoji) counts as one and is never taken apart.
  local low, high = 0, math.min(vim.fn.strchars(text, true), columns)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if M.width(vim.fn.strcharpart(text, 0, middle, true)) <= columns - 1 then
      low = middle
    else
      high = middle - 1
    end
  end
  return vim.fn.strcharpart(text, 0, low, true) .. "…"
end

--- Columns of a list of `[text, group]`.
---@param chunks string[][]
---@return integer
function M.chunks_width(chunks)
  local columns = 0
  for _, chunk in ipairs(chunks) do
    columns = columns + M.width(chunk[1])
  end
  return columns
end

--- Cut a list of `[text, group]` to at most `columns`.
---@param chunks string[][]
---@param columns integer
---@return string[][]
function M.truncate_chunks(chunks, columns)
  local fitted = {}
  for _, chunk in ipairs(chunks) do
    local text = M.one_line(chunk[1])
    local width = M.width(text)
    if width > columns then
      local cut = M.truncate(text, columns)
      if cut ~= "" then
        table.insert(fitted, { cut, chunk[2] })
      end
      return fitted
    end
    columns = columns - width
    table.insert(fitted, { text, chunk[2] })
  end
  return fitted
end

return M
