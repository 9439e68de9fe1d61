--- Registration of tools from Lua (`:help flemma-tools`).
local notify = require("flemma.notify")
local registrations = require("flemma.registrations")

local M = {}

---@class flemma.tools.Preview
---@field label? string
---@field detail? string|string[]
---@field highlight? { lang: string }

---@class flemma.tools.Result
---@field success boolean
---@field output? any
---@field error? string

---@class flemma.tools.Definition
---@field name? string
---@field description string
---@field input_schema flemma.schema.Node|table
---@field output_schema? table
---@field strict? boolean
---@field async? boolean
---@field enabled? boolean
---@field capabilities? string[]
---@field personalities? table<string, table>
---@field format_preview? fun(input: table, max_length: integer): flemma.tools.Preview|string
---@field execute fun(input: table, ctx: flemma.tools.Context, callback?: fun(result: flemma.tools.Result)): any

---@param name any
---@param definition any
local function check(name, definition)
  vim.validate("name", name, "string")
  vim.validate("definition", definition, "table")
  vim.validate("definition.description", definition.description, "string")
  vim.validate("definition.input_schema", definition.input_schema, "table")
  vim.validate("definition.execute", definition.execute, "function", true)
  vim.validate("definition.format_preview", definition.format_preview, "function", true)
  vim.validate("definition.capabilities", definition.capabilities, "table", true)
end

--- Wrappers by the function they wrap, so that a definition that is sent again keeps its number.
---@type table<function, function>
local synchronous = setmetatable({}, { __mode = "k" })

---@param execute function
---@return function
local function returning(execute)
  synchronous[execute] = synchronous[execute]
    or function(input, ctx)
      local result = execute(input, ctx)
      if result == nil then
        return { success = false, error = "Tool returned no result" }
      end
      return result
    end
  return synchronous[execute]
end

--- Check a definition and return it as the host gets it.
---@param name string
---@param definition flemma.tools.Definition
---@return table
function M.prepare(name, definition)
  check(name, definition)
  local prepared = vim.tbl_extend("force", {}, definition, { name = name })
  if definition.execute and not definition.async then
    prepared.execute = returning(definition.execute)
  end
  return prepared
end

---@param name string
---@param definition flemma.tools.Definition
local function register_tool(name, definition)
  local prepared = M.prepare(name, definition)
  if registrations.get("tool", name) then
    notify.show(
      ("tool '%s' redefined (previously registered, now overwritten)"):format(name),
      "warn"
    )
  end
  registrations.add("tool", name, prepared)
end

local sources = 0

---@param definition flemma.tools.SourceDefinition
---@param name? string
local function register_source(definition, name)
  vim.validate("resolve", definition.resolve, "function")
  vim.validate("timeout", definition.timeout, "number", true)
  if not name then
    sources = sources + 1
    name = "lua:" .. sources
  end
  local entry = { resolve = definition.resolve, timeout = definition.timeout }
  registrations.add("tool_source", name, entry)
  local send = registrations.sender()
  if send then
    require("flemma.tools.source").resolve(name, entry, send)
  end
end

---@param list flemma.tools.Definition[]
local function register_list(list)
  for _, definition in ipairs(list) do
    register_tool(definition.name, definition)
  end
end

---@param path string
local function register_module(path)
  local module = require(path)
  if type(module) ~= "table" or not (module.definitions or module.resolve or module.approval) then
    error(("module '%s' exports neither `definitions` nor `resolve`"):format(path), 0)
  end
  if module.definitions then
    register_list(module.definitions)
  end
  if module.resolve then
    register_source({ resolve = module.resolve, timeout = module.timeout }, path)
  end
  if module.approval then
    require("flemma.tools.approval").register(path, module.approval)
  end
end

--- Register tools.
---
--- - `register("name", definition)`: one tool
--- - `register({ definition, ... })`: several
--- - `register("module.path")`: a module exporting `definitions`, `resolve` or `approval`
--- - `register(function(register, done) ... end)`: tools that become known later
--- - `register({ resolve = ..., timeout = seconds })`: the same with a timeout
---
--- Raises an error that names what is wrong.
---@param subject string|flemma.tools.Definition[]|flemma.tools.Resolve|flemma.tools.SourceDefinition
---@param definition? flemma.tools.Definition
function M.register(subject, definition)
  if type(subject) == "string" and definition ~= nil then
    register_tool(subject, definition)
  elseif type(subject) == "string" then
    register_module(subject)
  elseif type(subject) == "function" then
    register_source({ resolve = subject })
  elseif type(subject) == "table" and subject.resolve then
    register_source(subject)
  elseif type(subject) == "table" and subject.name then
    register_tool(subject.name, subject)
  elseif type(subject) == "table" then
    register_list(subject)
  else
    error("register() takes a name and a definition, a list, a module name or a function", 2)
  end
end

--- Take a tool back.
---@param name string
---@return boolean found
function M.unregister(name)
  return registrations.remove("tool", name)
end

return M
