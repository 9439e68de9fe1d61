-- Run by `flemma doctor` with `nvim -l`: start the host as the plugin does, ask it something.
local python = _G.arg[1]
local errors = {}
local channel = vim.fn.jobstart({ python, "-m", "flemma.host" }, {
  rpc = true,
  on_stderr = function(_, lines)
    vim.list_extend(errors, lines)
  end,
})
local before = vim.uv.hrtime()
local ok, answer = pcall(vim.rpcrequest, channel, "flemma:ping", vim.empty_dict())
local milliseconds = (vim.uv.hrtime() - before) / 1e6
if ok then
  local form = "The host %s answers Neovim, %.0f ms after its start (Python %s)"
  io.stdout:write(form:format(answer.version, milliseconds, answer.python) .. "\n")
else
  vim.wait(500, function()
    return #errors > 1
  end)
  io.stdout:write(table.concat(errors, "\n") .. "\n" .. tostring(answer) .. "\n")
end
vim.fn.jobstop(channel)
os.exit(ok and 0 or 1)
