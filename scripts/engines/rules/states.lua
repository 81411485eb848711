--- Whether some layers of a model keep a state instead of a growing cache.
---@param model table?
---@param as_windows boolean? the engine keeps a state that is the inputs of the last tokens alone as a window of these
return function(model, as_windows)
  for _, kind in ipairs(model and model.attention or {}) do
    if kind.kind == "delta" or kind.kind == "mamba2" then return true end
    if kind.keeps_state and not (as_windows and kind.state_inputs > 0) then return true end
  end
  return false
end
