--- Pickers.
local M = {}

--- Let the user pick one of some items; the host gets the 0-based index, or none.
---@param payload { id: integer, prompt: string, items: string[] }
function M.open(payload)
  vim.schedule(function()
    vim.ui.select(payload.items, { prompt = payload.prompt }, function(_, index)
      require("flemma.host").notify("choice", {
        id = payload.id,
        index = index and index - 1 or vim.NIL,
      })
    end)
  end)
end

return M
