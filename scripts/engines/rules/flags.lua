--- Options of a command that no rule reads, in a short form: flags without effect here, flags that matter and are not
--- modelled, and variables of the environment. A list is a text of names:
---
---     name           a switch; with `!` in front also --no-name
---     name:t         takes a text; :i a whole number, :n a number, :l several words, :j JSON, :v a number or a text
---     name:t/-x/y    other spellings
---     name:t>=0.9<0.11    releases that have it; `>=` stands before `<`
---
--- The form of what is returned is that of `options` in docs/ENGINES.md.
local flags = {}

local types = { i = "integer", n = "number", t = "text", l = "list", j = "json", v = "text" }

--- Adds what stands behind a name and its type to an option: other spellings, and releases.
local function add_rest(own, rest)
  own.since, own.before = rest:match ">=([%d.rc]+)", rest:match "<([%d.rc]+)$"
  for spelling in rest:match("^[^<>]*"):gmatch "[^/]+" do
    own.also[#own.also + 1] = spelling:find "^-" and spelling or "--" .. spelling
  end
end

--- Options of a text of names; `more` is what all of them have.
local function options_of(list, text, more)
  for negated, name, kind, rest in text:gmatch "(!?)([^%s:/<>]+):?(%a?)(%S*)" do
    local own = { (name:gsub("-", "_")), flag = "--" .. name, type = kind == "" and "switch" or types[kind],
      negates = negated == "!" or nil, also = {} }
    if rest ~= "" then add_rest(own, rest) end
    for key, value in pairs(more) do own[key] = value end
    list[#list + 1] = own
  end
end

--- A function that returns the options: most runs ask for those of one engine.
--- @param given table {without_effect = text, not_modelled = {{note, text}}, variables = the same two of variables,
---   spelled = function(option) that changes an option, idle = {name = values that change nothing}}
function flags.list(given)
  return function()
    local out = {}
    options_of(out, given.without_effect or "", { no_effect = true })
    for _, row in ipairs(given.not_modelled or {}) do options_of(out, row[2], { note = row[1] }) end
    local variables, first = given.variables or {}, #out + 1
    options_of(out, variables.without_effect or "", { no_effect = true })
    for _, row in ipairs(variables.not_modelled or {}) do options_of(out, row[2], { note = row[1] }) end
    for i = first, #out do
      local own = out[i]
      own[1] = own.flag:sub(3)
      own.flag, own.variable, own.type = nil, true, "text"
    end
    for i, own in ipairs(out) do
      own.idle = given.idle and given.idle[own[1]]
      if i < first and given.spelled then given.spelled(own) end
    end
    return out
  end
end

--- A function that returns the options of all: each is a list, or a function that returns one.
function flags.joined(...)
  local parts = { ... }
  return function()
    local out = {}
    for _, part in ipairs(parts) do
      for _, each in ipairs(type(part) == "function" and part() or part) do out[#out + 1] = each end
    end
    return out
  end
end

return flags
