--- The in-process language server: Neovim's client on one side, the host's handlers on the other.
local config = require("flemma.config")
local host = require("flemma.host")

local M = {}

local NAME = "flemma"

---@alias flemma.LspCallback fun(error?: table, result?: any)

---@type table<integer, flemma.LspCallback>
local waiting = {}
local last_id = 0

local METHODS = { ["textDocument/hover"] = "hover", ["textDocument/definition"] = "definition" }

--- The chat that a question is about. Buffers without a file share one address: of those only the
--- current one is asked about.
---@param uri string
---@return integer
local function buffer_of(uri)
  if uri == "file://" then
    return vim.api.nvim_get_current_buf()
  end
  return vim.uri_to_bufnr(uri)
end

---@param method string
---@param params table
---@param callback flemma.LspCallback
local function forward(method, params, callback)
  if not host.channel() then
    callback(nil, nil)
    return
  end
  last_id = last_id + 1
  waiting[last_id] = callback
  host.notify("lsp", {
    id = last_id,
    method = METHODS[method],
    bufnr = buffer_of(params.textDocument.uri),
    line = params.position.line,
    column = params.position.character,
  })
end

---@param method string
---@param params table
---@param callback flemma.LspCallback
local function request(method, params, callback)
  if method == "initialize" then
    callback(nil, {
      capabilities = {
        hoverProvider = true,
        definitionProvider = true,
        positionEncoding = "utf-8",
      },
      serverInfo = { name = NAME, version = require("flemma.version").plugin },
    })
  elseif METHODS[method] then
    forward(method, params, callback)
  else
    callback(nil, nil)
  end
end

---@param dispatchers table
---@return vim.lsp.rpc.PublicClient
local function server(dispatchers)
  local closing = false
  local id = 0
  local function count()
    id = id + 1
    return id
  end
  return {
    request = function(method, params, callback, notify_reply)
      request(method, params, function(error, result)
        callback(error, result)
        if notify_reply then
          notify_reply(id)
        end
      end)
      return true, count()
    end,
    notify = function(method)
      if method == "exit" then
        closing = true
        dispatchers.on_exit(0, 0)
      end
      return true
    end,
    is_closing = function()
      return closing
    end,
    terminate = function()
      closing = true
    end,
  }
end

--- Neovim maps `K` for any server, but no key for definitions; in chats `<C-]>` sends. A mapping of
--- the user's goes before, whether it is there already or made when the server attaches.
---@param bufnr integer
local function map_definition(bufnr)
  if config.get("keymaps.enabled") == false then
    return
  end
  vim.api.nvim_buf_call(bufnr, function()
    if vim.fn.maparg("gd", "n") == "" then
      vim.keymap.set("n", "gd", vim.lsp.buf.definition, {
        buffer = bufnr,
        desc = "Flemma: Go to the definition",
      })
    end
  end)
end

--- Attach the server to a chat buffer.
---@param bufnr integer
function M.attach(bufnr)
  if config.get("lsp.enabled") == false then
    return
  end
  map_definition(bufnr)
  vim.lsp.start({
    name = NAME,
    cmd = server,
    root_dir = vim.fs.dirname(vim.api.nvim_buf_get_name(bufnr)),
    offset_encoding = "utf-8",
  }, {
    bufnr = bufnr,
    silent = true,
    reuse_client = function(client)
      return client.name == NAME
    end,
  })
end

--- The host's answer to a request.
---@param payload { id: integer, result?: any, error?: string }
function M.answered(payload)
  local callback = waiting[payload.id]
  waiting[payload.id] = nil
  if not callback then
    return
  end
  if payload.error then
    callback({ code = -32603, message = payload.error })
  else
    callback(nil, payload.result)
  end
end

--- The host is gone: nobody answers any more.
function M.reset()
  local callbacks = waiting
  waiting = {}
  for _, callback in pairs(callbacks) do
    callback(nil, nil)
  end
end

return M
