-- Start-up cost: one command. Everything else is loaded by the first chat buffer (its ftplugin)
-- or the first `:Flemma`.
if vim.g.loaded_flemma then
  return
end
vim.g.loaded_flemma = true

vim.api.nvim_create_user_command("Flemma", function(invocation)
  require("flemma.commands").run(invocation.args)
end, {
  nargs = "*",
  desc = "Flemma: run a command; without one, list them",
  complete = function(_, line, position)
    return require("flemma.commands").complete(line, position)
  end,
})
