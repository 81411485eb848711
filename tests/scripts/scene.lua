--- The scenario that most tests begin with.
---
---     local function scenario(changes) return scene({ seed = 3, workload = load }, changes) end
---
--- @param own table keys of a test's scenario, beside or in place of the model and the GPU below
--- @param changes table? keys of one case, in place of those
--- @return a table of its own
return function(own, changes)
  local out = { model = "llama-3.1-8b", hardware = "h100-sxm" }
  for key, value in pairs(own) do out[key] = value end
  for key, value in pairs(changes or {}) do out[key] = value end
  return out
end
