-- A workload with other lengths, with prompts that begin alike, or on a clock that runs at another speed.
local policy = require "rooflua.policy"

local Altered = policy.define {
  name = "altered",
  doc = "Another workload with lengths multiplied, prompts that share their beginning, and times divided.",
  params = {
    base = { type = "any", default = false, doc = "The workload." },
    prompt = { default = 1, unit = "1", doc = "Factor on prompts." },
    output = { default = 1, unit = "1", doc = "Factor on answers." },
    shared = { default = 0, min = 0, max = 1, unit = "1", doc = "Part of each prompt that all have in common." },
    slower = { default = 1, unit = "1", doc = "What times are divided by." },
  },
}

local function scaled(tokens, factor) return math.max(1, math.floor(tokens * factor + 0.5)) end

--- A request with its lengths, its time and its content changed.
local function altered(state, at_s, prompt, output, fields)
  if type(at_s) ~= "number" or type(prompt) ~= "number" or type(output) ~= "number" then
    return at_s, prompt, output, fields
  end
  local own = state.own
  prompt, output = scaled(prompt, own.prompt), scaled(output, own.output)
  if own.shared > 0 then
    local copy, common = {}, math.floor(own.shared * prompt)
    for key, value in pairs(fields or {}) do copy[key] = value end
    copy.content = common == 0 and { { 0, prompt } } or common == prompt and { { 1, prompt } }
      or { { 1, common }, { 0, prompt - common } }
    fields = copy
  end
  return at_s / own.slower, prompt, output, fields
end

--- The same for what follows an answer: one request, or a list of them.
local function after(state, at_s, ...)
  if type(at_s) ~= "table" then return altered(state, at_s, ...) end
  local out = {}
  for i, each in ipairs(at_s) do out[i] = { altered(state, each[1], each[2], each[3], each[4]) } end
  return out
end

function Altered:requests(rng)
  local source = self.base:requests(rng)
  local state = { own = self }
  if type(source) == "function" then
    return function() return altered(state, source()) end
  end
  if type(source) ~= "table" or source.plays then
    error("the requests of this workload are not drawn one by one", 0)
  end
  return { shares_content = self.shared > 0 or source.shares_content, sends_items = source.sends_items,
    next = function() return altered(state, source:next()) end,
    done = source.done and function(_, now_s, ...) return after(state, source:done(now_s * self.slower, ...)) end
      or nil,
    more = source.more and function() return altered(state, source:more()) end or nil }
end

return Altered
