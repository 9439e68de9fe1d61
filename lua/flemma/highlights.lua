--- Highlight groups. All are defaults: a colour scheme or the user's `:highlight` wins.
local config = require("flemma.config")
local generated = require("flemma.generated.defaults")

local M = {}

--- Groups that add attributes to the group they start from, and the option that sets them.
---@type table<string, { from: string, option: string, attributes: vim.api.keyset.highlight }>
local DERIVED = {
  FlemmaRoleSystemName = {
    from = "FlemmaRoleSystem",
    option = "role_name",
    attributes = { bold = true },
  },
  FlemmaRoleUserName = {
    from = "FlemmaRoleUser",
    option = "role_name",
    attributes = { bold = true },
  },
  FlemmaRoleAssistantName = {
    from = "FlemmaRoleAssistant",
    option = "role_name",
    attributes = { bold = true },
  },
  FlemmaToolLabel = {
    from = "FlemmaToolPreview",
    option = "tool_label",
    attributes = { italic = true },
  },
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

--- Set a group to what the user chose; that beats the colour scheme.
---@param name string
---@param value any a group to link to, a colour, attributes, or false for nothing
---@param base? vim.api.keyset.get_hl_info what attributes are laid over
local function override(name, value, base)
  if value == false then
    vim.api.nvim_set_hl(0, name, {})
  elseif type(value) == "string" and value:sub(1, 1) == "#" then
    vim.api.nvim_set_hl(0, name, { fg = value })
  elseif type(value) == "string" then
    vim.api.nvim_set_hl(0, name, { link = value })
  elseif type(value) == "table" then
    vim.api.nvim_set_hl(0, name, vim.tbl_extend("force", base or {}, value))
  end
end

--- What the user set himself; the defaults of the options are those of this module.
---@param section "highlights"|"line_highlights"
---@return table<string, any>
local function chosen(section)
  local value = config.given()[section]
  return type(value) == "table" and value or {}
end

---@param name string
---@param background integer
local function define_line(name, background)
  set(name, { bg = background })
  local option = name:lower():gsub("^flemmaline", "")
  local choice = chosen("line_highlights")[option]
  if type(choice) == "string" and choice:sub(1, 1) == "#" then
    vim.api.nvim_set_hl(0, name, { bg = choice })
  elseif choice ~= nil then
    override(name, choice)
  end
end

local function define_tints()
  local contrast = vim.o.background == "dark" and 0xffffff or 0
  local base = resolved("Normal").bg or (contrast == 0 and 0xe0e2ea or 0x14161b)
  local cursor = resolved("CursorLine").bg or blend(base, contrast, 0.08)
  for name, tint in pairs(TINTS) do
    local background = blend(base, resolved(tint.towards).fg or contrast, tint.share)
    define_line(name, background)
    set(name .. "CursorLine", { bg = blend(resolved(name).bg or background, cursor, 0.7) })
  end
end

local function define_derived()
  for name, derived in pairs(DERIVED) do
    local choice = chosen("highlights")[derived.option]
    local base = resolved(derived.from)
    if choice ~= nil then
      override(name, choice, base)
    else
      set(name, vim.tbl_extend("force", base, derived.attributes))
    end
  end
end

local LAID_OVER = { role_name = true, tool_label = true }

local function define_all()
  local defaults = generated.options.highlights
  for option, group in pairs(generated.groups) do
    local choice = chosen("highlights")[option]
    if choice ~= nil and not LAID_OVER[option] then
      override(group, choice)
    elseif type(defaults[option]) == "string" then
      set(group, { link = defaults[option] })
    end
  end
  define_derived()
  define_tints()
end

--- The first group of a comma-separated list that is defined; the last one if none is.
---@param list string
---@return string
function M.first(list)
  local names = vim.split(list, "%s*,%s*")
  for _, name in ipairs(names) do
    if next(vim.api.nvim_get_hl(0, { name = name })) then
      return name
    end
  end
  return names[#names]
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
