--- Whether some layers of a model keep a state with vLLM. What is the inputs of a short convolution alone is a window
--- of the last tokens there (memory_rules.lua, states_as_windows).
local states = require "engines.rules.states"

local own = { as_windows = true }

---@param model table?
---@return boolean
function own.are_in(model) return states(model, own.as_windows) end

return own
