--- Markdown colours of chat buffers, from treesitter, made light enough to type and stream with.
---
--- With its own queries Neovim parses the text in the middle of moving a cursor, to know which whole
--- lines are hidden, and looks for HTML everywhere after each key.
local M = {}

-- Above, there are no colours: parsing would cost the editor 10 ms for each change.
local LINES = 3000
local BYTES = 300000

--- Code in its language, text as text; nothing that spans the whole buffer.
local INJECTIONS = {
  markdown = [[
    (fenced_code_block
      (info_string (language) @injection.language)
      (code_fence_content) @injection.content)
    ([(inline) (pipe_table_cell)] @injection.content
      (#set! injection.language "markdown_inline"))
  ]],
  markdown_inline = "",
}

---@type string?
local highlights

--- The user's highlights of markdown without hidden lines.
---@return string
local function query()
  if not highlights then
    local parts = vim.tbl_map(function(file)
      return table.concat(vim.fn.readfile(file), "\n")
    end, vim.treesitter.query.get_files("markdown", "highlights"))
    highlights = table.concat(parts, "\n"):gsub('%(#set! conceal_lines "[^"]*"%)', "")
  end
  return highlights
end

---@param bufnr integer
local function start(bufnr)
  vim.treesitter.language.register("markdown", "chat")
  local parser = vim.treesitter.get_parser(bufnr, "markdown", { injections = INJECTIONS })
  vim.treesitter.highlighter.new(assert(parser), { queries = { markdown = query() } })
end

---@param bufnr integer
---@return boolean
local function is_long(bufnr)
  local lines = vim.api.nvim_buf_line_count(bufnr)
  return lines > LINES or vim.api.nvim_buf_get_offset(bufnr, lines) > BYTES
end

--- Colour a chat, unless it is too long.
---@param bufnr integer
function M.highlight(bufnr)
  if is_long(bufnr) then
    vim.treesitter.stop(bufnr)
  elseif not vim.treesitter.highlighter.active[bufnr] then
    -- There may be no parser; then the text is plain.
    pcall(start, bufnr)
  end
end

--- A chat was changed: stop colouring one that became too long.
---@param bufnr integer
function M.changed(bufnr)
  if vim.treesitter.highlighter.active[bufnr] and is_long(bufnr) then
    vim.treesitter.stop(bufnr)
  end
end

return M
