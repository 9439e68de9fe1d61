--- Payload types of the wire, as flemma/host/protocol.py declares them. Annotations only.

---@class flemma.Mark
---@field kind "line"|"text"|"ruler"|"status"|"preview"
---@field row integer
---@field end_row? integer
---@field column? integer
---@field end_column? integer
---@field group? string
---@field text? string
---@field spinner? boolean
---@field started? number
---@field expires? number
---@field name? string
---@field detail? string
---@field label? string
---@field block? string[]
---@field language? string

---@class flemma.Fold
---@field id string
---@field row integer
---@field end_row integer
---@field level integer
---@field close boolean
---@field head string[][]
---@field entries string[][][]
---@field tail string[][]

---@class flemma.ViewMessage : flemma.Message
---@field start integer

---@class flemma.View
---@field bufnr integer
---@field tick integer
---@field reset? boolean
---@field remove integer[]
---@field set flemma.ViewMessage[]
---@field turns? integer[][]

---@class flemma.BarItem
---@field text string
---@field priority integer
---@field group? string
---@field spinner? boolean
---@field deadline? number

---@class flemma.BarSegment
---@field label? string
---@field items flemma.BarItem[]

---@class flemma.Bar
---@field bufnr integer
---@field name string
---@field position string
---@field group? string
---@field icon? string
---@field timeout? integer
---@field segments? flemma.BarSegment[]

---@class flemma.Command
---@field bufnr integer
---@field name string
---@field arguments string
---@field line integer
---@field column integer
---@field insert boolean
---@field key boolean
---@field tick integer

return {}
