--- The names of all stores, for policies that store in each of them.
local function from(stores, i)
  if i > #stores then return end
  return stores[i].name, from(stores, i + 1)
end

---@param stores rooflua.Store[]
---@return string? ... names
return function(stores) return from(stores, 1) end
