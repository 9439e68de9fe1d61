--- Problems of a chat, shown as diagnostics.
local M = {}

local namespace = vim.api.nvim_create_namespace("flemma_diagnostics")

local SEVERITIES = {
  error = vim.diagnostic.severity.ERROR,
  warning = vim.diagnostic.severity.WARN,
  info = vim.diagnostic.severity.INFO,
  hint = vim.diagnostic.severity.HINT,
}

--- Show these in place of those before.
---@param payload { bufnr: integer, items: { line: integer, column?: integer, severity: string, message: string }[] }
function M.show(payload)
  if not vim.api.nvim_buf_is_loaded(payload.bufnr) then
    return
  end
  local list = {}
  for _, item in ipairs(payload.items) do
    table.insert(list, {
      lnum = item.line,
      col = item.column or 0,
      severity = SEVERITIES[item.severity] or vim.diagnostic.severity.WARN,
      message = item.message,
      source = "flemma",
    })
  end
  vim.diagnostic.set(namespace, payload.bufnr, list)
end

return M
