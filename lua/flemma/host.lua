--- Starts the Python host, watches it, and carries messages to it. Never waits for it.
---
--- What the user does before the host is ready is kept and played. A host that dies is started again
--- a few times; one that never came up is not, since it would fail the same way.
local handshake = require("flemma.handshake")
local interpreter = require("flemma.interpreter")
local notify = require("flemma.notify")
local version = require("flemma.version")

local M = {}

---@alias flemma.HostStatus "stopped"|"starting"|"ready"|"waiting"|"failed"

--- Messages that are the user's doing: they wait for the host. All others describe a state that is
--- told anew when the host is ready.
local PLAYED_LATER = { command = true }

local RESTARTS = 3
local RESTART_WINDOW = 60000 -- milliseconds
local BACK_OFF = { 200, 1000, 4000 } -- milliseconds
local SHUTDOWN_WAIT = 100 -- milliseconds
local STDERR_LINES = 40
local STDERR_SHOWN = 12

---@type flemma.HostStatus
local status = "stopped"
---@type integer?
local channel
---@type integer? job id of a process we started
local job
---@type integer? process id
local process
---@type { method: string, payload: table }[]
local queue = {}
---@type number[] times of crashes, newest last
local crashes = {}
---@type string[]
local stderr = {}
---@type string? why there is no host
local failure
local restarted = false
local options_outdated = false
---@type table<integer, boolean> buffers with a request that ended with its host
local broken_off = {}
local quitting = false

--- What the supervisor is doing.
---@return flemma.HostStatus
function M.status()
  return status
end

--- Process id of the host we started, or nil.
---@return integer?
function M.pid()
  return process
end

--- The channel of a host that is ready, or nil.
---@return integer?
function M.channel()
  return status == "ready" and channel or nil
end

---@type fun(code: integer)
local ended

---@param method string
---@param payload table
local function send(method, payload)
  if channel and not pcall(vim.rpcnotify, channel, "flemma", method, payload) and not job then
    -- Of a process that we did not start, a closed channel is the only sign that it is gone.
    ended(0)
  end
end

--- Send a message. Before the host is ready, what the user did is kept; the rest is told then anyway.
---@param method string see flemma/host/protocol.py
---@param payload table
function M.notify(method, payload)
  if status == "ready" then
    send(method, payload)
  elseif PLAYED_LATER[method] then
    if status == "failed" then
      -- Told for each thing the user asks for, never for what merely happens.
      notify.show(failure or "Flemma has no host.", "error")
      return
    end
    table.insert(queue, { method = method, payload = payload })
  end
end

--- Ask the host and wait for the answer. Only for the few blocking requests of the protocol.
---@param method string
---@param payload table
---@return any answer nil when there is no host or it failed
---@return string? reason
function M.request(method, payload)
  if status ~= "ready" or not channel then
    return nil, "the Flemma host is not running"
  end
  local ok, answer = pcall(vim.rpcrequest, channel, method, payload)
  if not ok then
    return nil, tostring(answer)
  end
  return answer
end

---@param lines string[]
local function keep_stderr(lines)
  for _, line in ipairs(lines) do
    if line ~= "" then
      table.insert(stderr, line)
    end
  end
  while #stderr > STDERR_LINES do
    table.remove(stderr, 1)
  end
end

---@return string
local function stderr_tail()
  local tail = vim.list_slice(stderr, math.max(1, #stderr - STDERR_SHOWN + 1))
  return #tail > 0 and ("\n" .. table.concat(tail, "\n")) or ""
end

---@param message string
local function fail(message)
  status = "failed"
  failure = message
  queue = {}
  notify.show(message, "error")
end

---@param lost integer
---@return string
local function lost_tools(lost)
  if lost == 0 then
    return ""
  end
  return (" %d running tool%s stopped with it and will be marked aborted."):format(
    lost,
    lost == 1 and "" or "s"
  )
end

---@return boolean
local function may_restart()
  local now = vim.uv.now()
  crashes = vim.tbl_filter(function(time)
    return now - time < RESTART_WINDOW
  end, crashes)
  table.insert(crashes, now)
  return #crashes <= RESTARTS
end

--- Everything on the screen that only a living host could end.
---@return integer spinners how many tools were running
local function release()
  require("flemma.registrations").connect(nil)
  require("flemma.bridge").reset()
  for _, bufnr in ipairs(require("flemma.progress").stop_all()) do
    broken_off[bufnr] = true
  end
  require("flemma.lsp").reset()
  require("flemma.lock").release_all()
  require("flemma.bar").stop_animated()
  return require("flemma.marks").stop_spinners()
end

---@param code integer
function ended(code)
  local was = status
  channel, job, process = nil, nil, nil
  if quitting or was == "stopped" or was == "failed" then
    return
  end
  local lost = release()
  if was == "starting" then
    fail(
      ("Flemma's Python host did not start (exit code %d). %s%s"):format(
        code,
        interpreter.way_out(),
        stderr_tail()
      )
    )
    return
  end
  if not may_restart() then
    fail(
      ("Flemma's Python host ended %d times in a minute (exit code %d) and stays off.%s "):format(
        #crashes,
        code,
        lost_tools(lost)
      )
        .. "See `:checkhealth flemma`; any `:Flemma` command starts it again."
        .. stderr_tail()
    )
    return
  end
  status = "waiting"
  restarted = true
  notify.show(
    ("Flemma's Python host ended unexpectedly (exit code %d) and is started again.%s%s"):format(
      code,
      lost_tools(lost),
      stderr_tail()
    ),
    "error"
  )
  vim.defer_fn(function()
    if status == "waiting" then
      M.start()
    end
  end, BACK_OFF[math.min(#crashes, #BACK_OFF)])
end

---@param python flemma.Interpreter
---@return integer? id
local function spawn(python)
  local mine
  local ok, id = pcall(vim.fn.jobstart, { python.path, "-m", "flemma.host" }, {
    rpc = true,
    -- The host ends with its standard input; Neovim need not wait for it when it quits.
    detach = true,
    cwd = interpreter.root(),
    env = interpreter.environment(),
    clear_env = true,
    on_stderr = function(_, lines)
      keep_stderr(lines)
    end,
    on_exit = function(_, code)
      if mine == job then
        ended(code)
      end
    end,
  })
  if not ok or id <= 0 then
    keep_stderr({ tostring(id) })
    return nil
  end
  mine = id
  return id
end

--- Start the host unless it runs, is being started, or failed before.
function M.ensure_started()
  if status == "stopped" then
    M.start()
  end
end

--- Start the host, also after it failed.
function M.start()
  if status == "ready" or status == "starting" then
    return
  end
  local python, reason = interpreter.find()
  if not python then
    fail(("Flemma cannot start: %s. %s"):format(reason, interpreter.way_out()))
    return
  end
  stderr = {}
  options_outdated = false
  status = "starting"
  job = spawn(python)
  if not job then
    fail(
      ("Flemma cannot start %s (%s). %s%s"):format(
        python.path,
        python.origin,
        interpreter.way_out(),
        stderr_tail()
      )
    )
    return
  end
  channel = job
  process = vim.fn.jobpid(job)
  send("start", handshake.payload())
end

--- A host that we did not start offers itself (the manifest way). Refused while there is another.
---@param payload { channel: integer }
---@return { ok: boolean, error?: string }
function M.attach(payload)
  if channel then
    return { ok = false, error = "another Flemma host is attached already; only one can be" }
  end
  channel = payload.channel
  options_outdated = false
  status = "starting"
  send("start", handshake.payload())
  return { ok = true }
end

--- Stop our process; it takes what it started with it.
function M.stop()
  local running = job
  status = "stopped"
  restarted = false
  release()
  broken_off = {}
  channel, job = nil, nil
  if running then
    pcall(vim.rpcnotify, running, "flemma", "shutdown", vim.empty_dict())
    pcall(vim.fn.chanclose, running)
  end
end

--- Options were set (again). A host that is just starting has the old ones.
function M.options_changed()
  if status == "ready" then
    options_outdated = false
    local payload = handshake.payload()
    send("setup", { options = payload.options, lua_modules = payload.lua_modules })
  elseif status == "starting" then
    options_outdated = true
  end
end

--- The handshake's answer.
---@param payload { version: integer, plugin_version: string, channel: integer, pid: integer }
function M.ready(payload)
  if payload.version ~= version.wire or payload.plugin_version ~= version.plugin then
    M.stop()
    fail(
      ("The Flemma host is version %s (wire %s), the plugin %s (wire %s). %s"):format(
        payload.plugin_version,
        payload.version,
        version.plugin,
        version.wire,
        "Restart Neovim after an update; if that does not help: " .. interpreter.way_out()
      )
    )
    return
  end
  if status ~= "starting" then
    return
  end
  status = "ready"
  if options_outdated then
    M.options_changed()
  end
  require("flemma.registrations").connect(M.notify)
  require("flemma.buffers").announce_all(restarted, broken_off)
  restarted, broken_off = false, {}
  local waiting = queue
  queue = {}
  for _, message in ipairs(waiting) do
    send(message.method, message.payload)
  end
end

--- The editor quits: tell the host, and give it a moment to end what it started.
function M.quit()
  quitting = true
  local running = job
  if not running then
    if channel then
      pcall(vim.rpcnotify, channel, "flemma", "shutdown", vim.empty_dict())
    end
    return
  end
  pcall(vim.rpcnotify, running, "flemma", "shutdown", vim.empty_dict())
  pcall(vim.fn.chanclose, running)
  local gone = vim.fn.jobwait({ running }, SHUTDOWN_WAIT)[1] ~= -1
  if not gone and process then
    vim.uv.kill(process, "sigterm")
  end
end

--- For `:checkhealth`: the last lines the host wrote to its standard error.
---@return string[]
function M.stderr()
  return vim.list_slice(stderr)
end

return M
