--- The one entry of the host: `require("flemma.rpc").handle(method, payload)`.
local notify = require("flemma.notify")
local wire = require("flemma.wire")

local M = {}

--- A handler loads its module when first needed; together they would cost the first paint.
---@param module string
---@param name string
---@return fun(payload: table): any
local function lazy(module, name)
  return function(payload)
    return require(module)[name](payload)
  end
end

---@type table<string, fun(payload: table): any>
local HANDLERS = {
  ready = lazy("flemma.host", "ready"),
  attach = lazy("flemma.host", "attach"),
  apply = lazy("flemma.edits", "apply"),
  lock = lazy("flemma.lock", "set"),
  cursor = lazy("flemma.cursor", "request"),
  view = lazy("flemma.marks", "apply"),
  progress = lazy("flemma.progress", "show"),
  bar = lazy("flemma.bar", "show"),
  save = lazy("flemma.files", "save"),
  ex = lazy("flemma.commands", "ex"),
  insert = lazy("flemma.insert", "ended"),
  ["popup:reject"] = lazy("flemma.popup", "open"),
  choose = lazy("flemma.choose", "open"),
  show = lazy("flemma.show", "open"),
  commands = lazy("flemma.commands", "pushed"),
  call = lazy("flemma.bridge", "call"),
  ["buffer:read"] = lazy("flemma.files", "read"),
  ["buffer:replace"] = lazy("flemma.files", "replace"),
  ["buffer:save"] = lazy("flemma.files", "save"),
  ["buffer:reload"] = lazy("flemma.files", "reload"),
  open = function(payload)
    vim.cmd.split(vim.fn.fnameescape(payload.path))
  end,
  lsp = lazy("flemma.lsp", "answered"),
  diagnostics = lazy("flemma.diagnostics", "show"),
  config = function(payload)
    require("flemma.config").pushed(payload.options)
  end,
  notify = function(payload)
    notify.show(payload.message, payload.level, payload.once)
  end,
  event = function(payload)
    require("flemma.hooks").fire(payload.name, payload.data or {})
  end,
}

--- Handlers whose payload is large and known to hold no nulls inside.
local PLAIN = { apply = true, view = true, ["buffer:replace"] = true }

--- What the host sends again when the editor was busy (a text lock, the command-line window).
local SENT_AGAIN = { view = true }

--- Do what the host asks. A failure is reported here and returned as `{ ok = false, error }`.
---@param method string
---@param payload table
---@return any
function M.handle(method, payload)
  local handler = HANDLERS[method]
  if not handler then
    local reason = ("The Flemma host sent '%s', which this plugin does not know."):format(method)
    notify.show(reason, "error", true)
    return { ok = false, error = reason }
  end
  if not PLAIN[method] then
    payload = wire.decode(payload)
  end
  local reason
  local ok, result = xpcall(handler, function(message)
    reason = tostring(message)
    return debug.traceback(reason, 2)
  end, payload)
  if not ok and SENT_AGAIN[method] and require("flemma.patience").is_busy(reason) then
    return { ok = false, busy = true }
  end
  if not ok then
    notify.show(("Flemma: '%s' failed: %s"):format(method, reason), "error", true)
    -- With the traceback, for the log of the host.
    return { ok = false, error = result }
  end
  return result
end

return M
