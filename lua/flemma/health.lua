--- `:checkhealth flemma`
local host = require("flemma.host")
local interpreter = require("flemma.interpreter")
local version = require("flemma.version")

local M = {}

local health = vim.health
local MINIMUM_PYTHON = { 3, 11 }
local START_WAIT = 5000 -- milliseconds

local PROBE = table.concat({
  "import sys",
  "print('.'.join(map(str, sys.version_info[:3])))",
  "import flemma.host.__main__, flemma",
  "print(flemma.__version__)",
}, "\n")

local PROGRAMS = {
  { names = { "bash" }, use = "the tool `bash`", way_out = "install bash", required = true },
  { names = { "rg" }, use = "the tool `grep` (else grep is used)", way_out = "install ripgrep" },
  {
    names = { "fd", "fdfind" },
    use = "the tool `find` (else git or find is used)",
    way_out = "install fd (package `fd` or `fd-find`)",
  },
  {
    names = { "bwrap" },
    use = "the sandbox",
    way_out = "install bubblewrap, or set `sandbox.enabled = false`",
  },
}

local function check_editor()
  health.start("Neovim")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.11 or later is needed, this is " .. tostring(vim.version()))
  end
end

---@param text string
---@return boolean
local function is_new_enough(text)
  local major, minor = text:match("^(%d+)%.(%d+)")
  major, minor = tonumber(major), tonumber(minor)
  return major ~= nil
    and (major > MINIMUM_PYTHON[1] or (major == MINIMUM_PYTHON[1] and minor >= MINIMUM_PYTHON[2]))
end

---@param python flemma.Interpreter
---@return boolean works
local function check_imports(python)
  local ok, process = pcall(vim.system, { python.path, "-c", PROBE }, {
    cwd = interpreter.root(),
    env = interpreter.environment(),
    clear_env = true,
    text = true,
    timeout = START_WAIT,
  })
  if not ok then
    health.error(("%s cannot be run: %s"):format(python.path, process), interpreter.way_out())
    return false
  end
  local result = process:wait()
  local lines = vim.split(vim.trim(result.stdout or ""), "\n")
  if lines[1] ~= "" and not is_new_enough(lines[1]) then
    health.error("Python 3.11 or later is needed, this is " .. lines[1], interpreter.way_out())
    return false
  end
  if result.code ~= 0 then
    local errors = vim.split(vim.trim(result.stderr or ""), "\n")
    health.error("The host cannot be imported: " .. errors[#errors], interpreter.way_out())
    return false
  end
  health.ok(("Python %s imports Flemma %s"):format(lines[1], lines[2]))
  if lines[2] ~= version.plugin then
    health.error(
      ("The package is version %s, the plugin %s"):format(lines[2], version.plugin),
      interpreter.way_out()
    )
  end
  return true
end

---@return boolean works
local function check_interpreter()
  health.start("Python")
  local python, reason = interpreter.find()
  if not python then
    health.error(tostring(reason), interpreter.way_out())
    return false
  end
  health.ok(("%s (%s)"):format(python.path, python.origin))
  return check_imports(python)
end

local function check_host()
  health.start("Host")
  if host.status() ~= "ready" then
    host.start()
    vim.wait(START_WAIT, function()
      return host.status() ~= "starting"
    end, 10)
  end
  if host.status() ~= "ready" then
    local tail = table.concat(host.stderr(), "\n")
    health.error("The host does not start.\n" .. tail, interpreter.way_out())
    return
  end
  local before = vim.uv.hrtime()
  local answer, reason = host.request("flemma:ping", vim.empty_dict())
  if not answer then
    health.error("The host does not answer: " .. tostring(reason), "See the log file")
    return
  end
  local milliseconds = (vim.uv.hrtime() - before) / 1e6
  health.ok(
    ("Process %s answers in %.1f ms (Python %s)"):format(answer.pid, milliseconds, answer.python)
  )
end

local function check_programs()
  health.start("Programs")
  for _, program in ipairs(PROGRAMS) do
    local found = vim.iter(program.names):find(function(name)
      return vim.fn.executable(name) == 1
    end)
    if found then
      health.ok(("%s, for %s"):format(found, program.use))
    else
      local report = program.required and health.error or health.warn
      report(
        ("%s was not found; it is for %s"):format(program.names[1], program.use),
        program.way_out
      )
    end
  end
end

local function check_credentials()
  health.start("Credentials")
  if (vim.env.ANTHROPIC_API_KEY or "") ~= "" then
    health.ok("ANTHROPIC_API_KEY is set")
  else
    health.warn(
      "ANTHROPIC_API_KEY is not set",
      -- Nothing may follow the topic: it would count as a part of it.
      "export ANTHROPIC_API_KEY=…, or keep the key elsewhere: see :help flemma-credentials"
    )
  end
end

--- Check everything a chat needs.
function M.check()
  check_editor()
  if check_interpreter() then
    check_host()
  end
  check_programs()
  check_credentials()
end

return M
