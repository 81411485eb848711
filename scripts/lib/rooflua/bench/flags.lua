-- The flags of benchmark tools: lists of their names by what they take.
local flags = {}

--- {name = kind} of {whole = "num-prompts seed", switch = "..."}: names without dashes.
---   number, whole, text, list   a value that is read; a list is one or more texts, and may be repeated
---   value, values, switch       a value, any number of values, and none
function flags.of(names)
  local out = {}
  for kind, list in pairs(names) do
    for name in list:gmatch "%S+" do out[name] = kind end
  end
  return out
end

--- {other name = name} of "other=name ...".
function flags.aliases(text)
  local out = {}
  for other, name in text:gmatch "(%S+)=(%S+)" do out[other] = name end
  return out
end

return flags
