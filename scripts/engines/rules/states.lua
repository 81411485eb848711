--- Whether some layers of a model keep a state instead of a growing cache.
---@param model table?
return function(model)
  for _, kind in ipairs(model and model.attention or {}) do
    if kind.kind == "delta" or kind.kind == "mamba2" or kind.keeps_state then return true end
  end
  return false
end
