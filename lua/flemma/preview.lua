--- The virtual line that tells what a waiting tool call will do.
local config = require("flemma.config")
local text = require("flemma.text")

local M = {}

local SEPARATOR = " — "
local GROUP = "FlemmaToolPreview"
local BLOCK_LINES = 10

---@alias flemma.Chunk [string, string|string[]]

--- Highlighted chunks of code, by language and text; small, since previews are.
---@type table<string, flemma.Chunk[]>
local cache = {}
local cached = 0
local CACHE_SIZE = 200

---@param code string
---@param language string
---@return table<integer, string> groups group by byte, the last capture wins
local function capture(code, language)
  local groups = {}
  local parser = vim.treesitter.get_string_parser(code, language)
  local tree = parser:parse()[1]
  local query = vim.treesitter.query.get(language, "highlights")
  if not query or not tree then
    return groups
  end
  for id, node in query:iter_captures(tree:root(), code) do
    local name = query.captures[id]
    if name:sub(1, 1) ~= "_" and name ~= "spell" and name ~= "nospell" then
      local _, _, first = node:start()
      local _, _, last = node:end_()
      for byte = first + 1, last do
        groups[byte] = "@" .. name .. "." .. language
      end
    end
  end
  return groups
end

---@param code string
---@param groups table<integer, string>
---@return flemma.Chunk[]
local function chunked(code, groups)
  local chunks = {}
  local first = 1
  for byte = 1, #code do
    if byte == #code or groups[byte + 1] ~= groups[byte] then
      local group = groups[byte]
      table.insert(chunks, { code:sub(first, byte), group and { GROUP, group } or GROUP })
      first = byte + 1
    end
  end
  return chunks
end

--- Chunks of code in the colours of its language; in one colour when there is no parser for it.
---@param code string
---@param language? string
---@return flemma.Chunk[]
function M.highlight(code, language)
  if code == "" then
    return {}
  end
  if not language or config.get("ui.approval.syntax_highlighting") == false then
    return { { code, GROUP } }
  end
  local key = language .. "\0" .. code
  if not cache[key] then
    if cached >= CACHE_SIZE then
      cache, cached = {}, 0
    end
    local ok, groups = pcall(capture, code, language)
    cache[key] = ok and chunked(code, groups) or { { code, GROUP } }
    cached = cached + 1
  end
  return cache[key]
end

--- One line without tabs, whose width would depend on where they stand.
---@param part? string
---@return string
local function plain(part)
  return (text.one_line(part or ""):gsub("\t", " "))
end

--- The parts of the one-line form, cut to `columns`: the detail gives way before the label does.
---@param mark flemma.Mark
---@param columns integer
---@return flemma.Chunk[]
function M.line(mark, columns)
  local name = mark.name or ""
  local detail = plain(mark.detail)
  local label = plain(mark.label)
  if detail == "" and label == "" then
    return { { text.truncate(name, columns), GROUP } }
  end
  local prefix = name .. ": "
  local room = columns - text.width(prefix)
  if detail == "" then
    return { { prefix .. text.truncate(label, room), GROUP } }
  end
  local suffix = label ~= "" and (SEPARATOR .. label) or ""
  local shown = text.truncate(detail, math.max(1, room - text.width(suffix)))
  local chunks = { { prefix, GROUP } }
  vim.list_extend(chunks, M.highlight(shown, mark.language))
  if suffix ~= "" then
    local left = room - text.width(shown)
    table.insert(chunks, { text.truncate(suffix, left), GROUP })
  end
  return chunks
end

---@param mark flemma.Mark
---@param columns integer
---@param indent integer
---@return flemma.Chunk[][]
local function block(mark, columns, indent)
  local head = (mark.name or "") .. ":"
  if mark.label then
    head = head .. SEPARATOR .. plain(mark.label)
  end
  local lines = { { { text.truncate(head, columns), GROUP } } }
  local margin = (" "):rep(math.min(indent, math.floor(columns / 2)))
  -- A last line that counts what is left out is not worth one line more.
  local count = #mark.block <= BLOCK_LINES + 1 and #mark.block or BLOCK_LINES
  for index = 1, count do
    local line = text.truncate(plain(mark.block[index]), columns - #margin)
    local chunks = { { margin, GROUP } }
    vim.list_extend(chunks, M.highlight(line, mark.language))
    table.insert(lines, chunks)
  end
  if count < #mark.block then
    table.insert(lines, { { ("%s%d more lines"):format(margin, #mark.block - count), GROUP } })
  end
  return lines
end

--- The virtual lines of a preview: one line if that fits or there is no other form.
---@param mark flemma.Mark
---@param columns integer
---@param indent? integer columns that the lines of a block are moved to the right
---@return flemma.Chunk[][]
function M.lines(mark, columns, indent)
  if mark.block then
    local parts = { mark.name or "", ": ", mark.detail or "" }
    if mark.label then
      vim.list_extend(parts, { SEPARATOR, mark.label })
    end
    if text.width(plain(table.concat(parts))) > columns then
      return block(mark, columns, indent or 0)
    end
  end
  return { M.line(mark, columns) }
end

return M
