--- Conditions on the formats of weights, for rows of rules.
local formats = {}

local function among(format, names)
  for _, name in ipairs(names) do
    if format == name then return true end
  end
  return false
end

--- Whether routed experts are in one of these formats: a `when` of rules.
function formats.of_experts(...)
  local names = { ... }
  return function(facts)
    return facts.formats ~= nil and facts.model ~= nil and facts.model.moe ~= nil
      and among(facts.formats.experts, names)
  end
end

local dense = { "attention", "dense_mlp" }

--- Whether experts, attention or dense MLPs are in one of these formats: a `when` of rules.
function formats.of_any(...)
  local names, of_experts = { ... }, formats.of_experts(...)
  return function(facts)
    if of_experts(facts) then return true end
    for _, class in ipairs(facts.formats and dense or {}) do
      if among(facts.formats[class], names) then return true end
    end
    return false
  end
end

--- Whether the KV cache is in a format whose name begins with one of these words: a `when` of rules.
function formats.of_kv(...)
  local words = { ... }
  return function(facts)
    for _, word in ipairs(type(facts.kv) == "string" and words or {}) do
      if facts.kv:sub(1, #word) == word then return true end
    end
    return false
  end
end

return formats
