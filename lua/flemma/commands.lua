--- `:Flemma`: what the user wants goes to the host as it is; completion comes from the host's list.
local host = require("flemma.host")

local M = {}

---@class flemma.CommandCompletion
---@field name string
---@field arguments string[][]
---@field dynamic? boolean

---@param name string
---@param ... string[]
---@return flemma.CommandCompletion
local function entry(name, ...)
  return { name = name, arguments = { ... } }
end

--- Until the host has told its commands.
---@type flemma.CommandCompletion[]
local commands = {
  entry("autopilot:disable"),
  entry("autopilot:enable"),
  entry("autopilot:status"),
  entry("cancel"),
  entry("logging:disable"),
  entry("logging:enable", { "TRACE", "DEBUG", "INFO", "WARN", "ERROR" }),
  entry("logging:open"),
  entry("message:next"),
  entry("message:previous"),
  entry("sandbox:disable"),
  entry("sandbox:enable"),
  entry("sandbox:status"),
  entry("send", { "on_request_start=", "on_request_complete=" }),
  entry("status", { "verbose" }),
  { name = "switch", arguments = {}, dynamic = true },
  entry("tool:approve"),
  entry("tool:approve-all"),
  entry("tool:background"),
  entry("tool:cancel"),
  entry("tool:cancel-all"),
  entry("tool:execute"),
  entry("tool:list"),
  entry("tool:reject"),
  entry("usage:recall"),
  entry("why"),
}

--- Commands that only move the cursor: the screen's own business.
local LOCAL = {
  ["message:next"] = function()
    require("flemma.navigation").next()
  end,
  ["message:previous"] = function()
    require("flemma.navigation").previous()
  end,
  ["message:prev"] = function()
    require("flemma.navigation").previous()
  end,
}

--- Commands whose outcome the user wants to be shown.
local NEXT_STEP = { send = true, ["tool:execute"] = true }

--- Take the host's list.
---@param payload { commands: flemma.CommandCompletion[] }
function M.pushed(payload)
  commands = payload.commands
end

--- Send a command of the current buffer to the host.
---@param name string
---@param arguments? string
---@param origin? { key?: boolean, insert?: boolean }
function M.send(name, arguments, origin)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local bufnr = vim.api.nvim_get_current_buf()
  if NEXT_STEP[name] then
    require("flemma.cursor").join(bufnr)
  end
  host.ensure_started()
  host.notify("command", {
    bufnr = bufnr,
    name = name,
    arguments = arguments or "",
    line = cursor[1] - 1,
    column = cursor[2],
    insert = origin ~= nil and origin.insert == true,
    key = origin ~= nil and origin.key == true,
    tick = vim.api.nvim_buf_get_changedtick(bufnr),
  })
end

--- Run `:Flemma line`.
---@param line string
function M.run(line)
  local name, arguments = line:match("^%s*(%S*)%s*(.-)%s*$")
  if LOCAL[name] then
    LOCAL[name]()
    return
  end
  if host.status() == "failed" then
    -- Whoever types a command after a failure wants another try.
    host.start()
    if host.status() == "failed" then
      return
    end
  end
  M.send(name, arguments)
end

--- Run an Ex command that the user gave to `:Flemma send`, in the chat it was given in.
---@param payload { bufnr: integer, command: string }
function M.ex(payload)
  if not vim.api.nvim_buf_is_loaded(payload.bufnr) then
    return
  end
  local ok, reason = pcall(vim.api.nvim_buf_call, payload.bufnr, function()
    vim.cmd(payload.command)
  end)
  if not ok then
    require("flemma.notify").show(("`%s` failed: %s"):format(payload.command, reason), "error")
  end
end

---@param candidates string[]
---@param lead string
---@return string[]
local function matching(candidates, lead)
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

---@param name string
---@return flemma.CommandCompletion?
local function find(name)
  for _, command in ipairs(commands) do
    if command.name == name then
      return command
    end
  end
end

--- Complete a command line.
---@param line string
---@param position integer
---@return string[]
function M.complete(line, position)
  local words = vim.split(line:sub(1, position):gsub("^%s*%S+%s*", ""), "%s+")
  local lead = table.remove(words) or ""
  if #words == 0 then
    local names = vim.tbl_map(function(command)
      return command.name
    end, commands)
    return matching(names, lead)
  end
  local command = find(words[1])
  if not command then
    return {}
  end
  if command.dynamic and host.channel() then
    local answer = host.request("flemma:complete", { line = line, position = position })
    return type(answer) == "table" and answer or {}
  end
  return matching(command.arguments[#words] or command.arguments[#command.arguments] or {}, lead)
end

return M
