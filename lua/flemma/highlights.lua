--- Highlight groups. All are defaults: a colour scheme or the user's `:highlight` wins.
local config = require("flemma.config")

local M = {}

---@type table<string, string>
local LINKS = {
  FlemmaSystem = "Special",
  FlemmaUser = "Normal",
  FlemmaAssistant = "Normal",
  FlemmaRoleSystem = "Special",
  FlemmaRoleUser = "Function",
  FlemmaRoleAssistant = "Identifier",
  FlemmaRuler = "WinSeparator",
  FlemmaTurn = "WinSeparator",
  FlemmaLuaExpression = "PreProc",
  FlemmaLuaCodeBlock = "PreProc",
  FlemmaLuaDelimiter = "Delimiter",
  FlemmaUserFileReference = "Include",
  FlemmaThinkingTag = "Comment",
  FlemmaThinkingFoldPreview = "Comment",
  FlemmaToolIcon = "Function",
  FlemmaToolName = "Function",
  FlemmaToolUseTitle = "Function",
  FlemmaToolResultTitle = "Function",
  FlemmaToolResultError = "DiagnosticError",
  FlemmaToolResultPending = "DiagnosticInfo",
  FlemmaToolResultApproved = "DiagnosticOk",
  FlemmaToolResultRejected = "DiagnosticWarn",
  FlemmaToolResultDenied = "DiagnosticError",
  FlemmaToolResultAborted = "DiagnosticError",
  FlemmaToolPreview = "Comment",
  FlemmaToolDetail = "Comment",
  FlemmaToolPending = "DiagnosticInfo",
  FlemmaToolExecuting = "DiagnosticInfo",
  FlemmaToolSuccess = "DiagnosticOk",
  FlemmaToolError = "DiagnosticError",
  FlemmaToolIconPending = "DiagnosticInfo",
  FlemmaToolIconExecuting = "DiagnosticInfo",
  FlemmaToolIconSuccess = "DiagnosticOk",
  FlemmaToolIconError = "DiagnosticError",
  FlemmaFoldPreview = "Comment",
  FlemmaFoldMeta = "Comment",
  FlemmaAssistantSpinner = "DiagnosticInfo",
  FlemmaUsageBar = "PmenuSel",
  FlemmaUsageBarSecondary = "PmenuSel",
  FlemmaUsageBarMuted = "Comment",
  FlemmaUsageBarCacheGood = "DiagnosticOk",
  FlemmaUsageBarCacheBad = "DiagnosticWarn",
  FlemmaProgressBar = "StatusLine",
  FlemmaProgressBarAccent = "DiagnosticInfo",
  FlemmaProgressBarWarning = "DiagnosticWarn",
  FlemmaProgressBarError = "DiagnosticError",
  FlemmaRejectionInput = "NormalFloat",
  FlemmaRejectionBorder = "DiagnosticWarn",
  FlemmaBusy = "DiagnosticInfo",
  FlemmaStatusTitle = "Title",
  FlemmaStatusSection = "Statement",
  FlemmaStatusKey = "Identifier",
  FlemmaStatusValue = "String",
  FlemmaStatusSource = "Comment",
  FlemmaStatusGood = "DiagnosticOk",
  FlemmaStatusBad = "DiagnosticError",
  FlemmaStatusTextMuted = "Comment",
}

--- Groups that add attributes to the group they start from.
---@type table<string, { from: string, attributes: vim.api.keyset.highlight }>
local DERIVED = {
  FlemmaRoleSystemName = { from = "FlemmaRoleSystem", attributes = { bold = true } },
  FlemmaRoleUserName = { from = "FlemmaRoleUser", attributes = { bold = true } },
  FlemmaRoleAssistantName = { from = "FlemmaRoleAssistant", attributes = { bold = true } },
  FlemmaToolLabel = { from = "FlemmaToolPreview", attributes = { italic = true } },
}

--- How far a line's background leaves that of `Normal`, towards the colour of a group.
---@type table<string, { towards: string, share: number }>
local TINTS = {
  FlemmaLineFrontmatter = { towards = "Special", share = 0.06 },
  FlemmaLineSystem = { towards = "DiagnosticWarn", share = 0.05 },
  FlemmaLineUser = { towards = "DiagnosticInfo", share = 0.05 },
  FlemmaLineAssistant = { towards = "DiagnosticOk", share = 0.03 },
  FlemmaThinkingBlock = { towards = "Comment", share = 0.08 },
}

--- Options `highlights.*` and the group each sets.
---@type table<string, string>
local OPTIONS = {
  system = "FlemmaSystem",
  user = "FlemmaUser",
  assistant = "FlemmaAssistant",
  expression = "FlemmaLuaExpression",
  code_block = "FlemmaLuaCodeBlock",
  delimiter = "FlemmaLuaDelimiter",
  file_reference = "FlemmaUserFileReference",
  thinking_tag = "FlemmaThinkingTag",
  thinking_block = "FlemmaThinkingBlock",
  tool_icon = "FlemmaToolIcon",
  tool_name = "FlemmaToolName",
  tool_use_title = "FlemmaToolUseTitle",
  tool_result_title = "FlemmaToolResultTitle",
  tool_result_error = "FlemmaToolResultError",
  tool_preview = "FlemmaToolPreview",
  tool_label = "FlemmaToolLabel",
  tool_detail = "FlemmaToolDetail",
  fold_preview = "FlemmaFoldPreview",
  fold_meta = "FlemmaFoldMeta",
  ruler = "FlemmaRuler",
  turn = "FlemmaTurn",
  busy = "FlemmaBusy",
  rejection_input = "FlemmaRejectionInput",
  rejection_border = "FlemmaRejectionBorder",
}

---@param base integer
---@param other integer
---@param share number
---@return integer
local function blend(base, other, share)
  local mixed = 0
  for shift = 16, 0, -8 do
    local from = bit.band(bit.rshift(base, shift), 255)
    local to = bit.band(bit.rshift(other, shift), 255)
    mixed = bit.bor(mixed, bit.lshift(math.floor(from + (to - from) * share + 0.5), shift))
  end
  return mixed
end

---@param name string
---@return vim.api.keyset.get_hl_info
local function resolved(name)
  return vim.api.nvim_get_hl(0, { name = name, link = false })
end

---@param name string
---@param definition vim.api.keyset.highlight
local function set(name, definition)
  definition.default = true
  vim.api.nvim_set_hl(0, name, definition)
end

local function define_tints()
  local dark = vim.o.background == "dark"
  local base = resolved("Normal").bg or (dark and 0x14161b or 0xe0e2ea)
  local cursor = resolved("CursorLine").bg or blend(base, dark and 0xffffff or 0, 0.08)
  for name, tint in pairs(TINTS) do
    local towards = resolved(tint.towards).fg or (dark and 0xffffff or 0)
    local background = blend(base, towards, tint.share)
    set(name, { bg = background })
    local shown = resolved(name).bg or background
    set(name .. "CursorLine", { bg = blend(shown, cursor, 0.7) })
  end
end

---@param name string
---@param value any a group to link to, a colour, or the attributes of a highlight
local function override(name, value)
  if type(value) == "string" and value:sub(1, 1) == "#" then
    vim.api.nvim_set_hl(0, name, { fg = value })
  elseif type(value) == "string" then
    vim.api.nvim_set_hl(0, name, { link = value })
  elseif type(value) == "table" and not vim.islist(value) then
    local base = name == "FlemmaToolLabel" and resolved("FlemmaToolPreview") or {}
    vim.api.nvim_set_hl(0, name, vim.tbl_extend("force", base, { default = false }, value))
  end
end

local function define_all()
  for name, target in pairs(LINKS) do
    set(name, { link = target })
  end
  for option, value in pairs(config.get("highlights") or {}) do
    local group = OPTIONS[option]
    if group and not DERIVED[group] then
      override(group, value)
    end
  end
  for name, derived in pairs(DERIVED) do
    set(name, vim.tbl_extend("force", resolved(derived.from), derived.attributes))
  end
  local label = vim.tbl_get(config.get("highlights") or {}, "tool_label")
  if label then
    override("FlemmaToolLabel", label)
  end
  define_tints()
end

local defined = false

--- Define the groups; again with every colour scheme and change of the options.
function M.define()
  if defined then
    return
  end
  defined = true
  define_all()
  config.on_change(define_all)
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("flemma_highlights", { clear = true }),
    callback = define_all,
  })
end

return M
