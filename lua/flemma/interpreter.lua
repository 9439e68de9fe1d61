--- Which Python runs the host, and in what environment.
---
--- Never the one of the project being worked on: its virtual environment is none of our business.
local config = require("flemma.config")

local M = {}

--- Variables that would point our interpreter at somebody else's packages.
local FOREIGN = { "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "CONDA_PREFIX" }

---@class flemma.Interpreter
---@field path string
---@field origin string where it was found, for the user

--- The directory the plugin is installed in.
---@return string
function M.root()
  local source = debug.getinfo(1, "S").source:sub(2)
  local path = vim.fs.normalize(vim.fn.fnamemodify(source, ":p"))
  return vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(path)))
end

---@param environment string a virtual environment's directory
---@return string
local function python_of(environment)
  local is_windows = vim.fn.has("win32") == 1
  return environment .. (is_windows and "/Scripts/python.exe" or "/bin/python")
end

--- All places that are looked at, in order; those without a path are not set.
---@return flemma.Interpreter[]
function M.candidates()
  local option = config.get("python")
  local list = {}
  local function add(path, origin)
    if type(path) == "string" and path ~= "" then
      table.insert(list, { path = vim.fn.expand(path), origin = origin })
    end
  end
  add(option, "option `python`")
  add(python_of(M.root() .. "/.venv"), "the plugin's .venv")
  add(python_of(vim.fn.stdpath("data") .. "/flemma/venv"), "the private environment")
  add(vim.g.python3_host_prog, "g:python3_host_prog")
  add("python3", "python3 on the PATH")
  return list
end

--- The first candidate that can be run. An explicit option that cannot be run is an error, not a
--- reason to take another one.
---@return flemma.Interpreter? interpreter
---@return string? reason
function M.find()
  for index, candidate in ipairs(M.candidates()) do
    if vim.fn.executable(candidate.path) == 1 then
      return candidate
    end
    if index == 1 and config.get("python") then
      return nil, ("the option `python` names '%s', which cannot be run"):format(candidate.path)
    end
  end
  return nil, "no Python interpreter was found"
end

--- The environment for our interpreter.
---@return table<string, string>
function M.environment()
  local environment = vim.fn.environ()
  for _, name in ipairs(FOREIGN) do
    environment[name] = nil
  end
  return environment
end

--- How to mend an interpreter that lacks what the host needs.
---@return string
function M.way_out()
  local message =
    "Run `make install` in %s (or set the option `python`), then `:checkhealth flemma`."
  return message:format(M.root())
end

return M
