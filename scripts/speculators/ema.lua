--- SGLang's adaptive number of drafts. Each range of batch sizes has a ladder of allowed numbers and a running mean of
--- the drafts that were accepted per request.
---
---     mean = (1 - weight) mean + weight (accepted / requests)             after every step that drafted
---     down while mean <= lower - 0.5 + down          (0.5 + down where the lower step is 0)
---     up   while mean >  current - 0.5               if it did not go down
---
--- Steps 1 to `warm_up` of a range decide nothing; from there every `every`-th does. From 0 drafts the ladder is tried
--- one step up at the next decision, because without drafts nothing is learned.
local policy = require "rooflua.policy"

---@class speculators.Ema: rooflua.Speculator
---@field draft_tokens integer
---@field ladders table[]
---@field weight number
---@field warm_up integer
---@field every integer
---@field states table[] by range: place on its ladder, mean, steps
local Ema = policy.define {
  name = "ema",
  doc = "Moves along a ladder of draft numbers by the running mean of accepted drafts, by batch size.",
  source = "SGLang speculative/adaptive_spec_params.py",
  params = {
    draft_tokens = { default = 3, unit = "tokens", min = 0, max = 64, integer = true,
      doc = "Where each ladder starts; its middle where it lacks this number.", source = "SGLang: (3, 1, 4) for most" },
    ladders = {
      default = { { from = 1, drafts = { 1, 3, 5, 7 }, down = -0.25 }, { from = 8, drafts = { 0, 1, 3 }, down = 0 },
        { from = 32, drafts = { 0, 1 }, down = 0 }, { from = 64, drafts = { 0 }, down = 0 } },
      unit = "{requests, tokens, tokens}", source = "SGLang DEFAULT_ADAPTIVE_CONFIG",
      doc = "List of {from = requests, drafts = ascending numbers, down = shift of the threshold}.",
    },
    weight = { default = 0.2, unit = "1", exclusive_min = true, min = 0, max = 1, source = "SGLang ema_alpha",
      doc = "Weight of the newest step in the mean." },
    warm_up = { default = 10, unit = "steps", min = 0, integer = true, source = "SGLang warmup_batches",
      doc = "Steps of a range before its first decision." },
    every = { default = 5, unit = "steps", min = 1, integer = true, source = "SGLang update_interval",
      doc = "Steps between two decisions." },
  },
}

local function ascending(list)
  local before = -1
  for _, value in ipairs(list) do
    if type(value) ~= "number" or value % 1 ~= 0 or value <= before or value > 64 then return false end
    before = value
  end
  return before >= 0
end

local function check(ladders)
  local before = 0
  for i, each in ipairs(ladders) do
    local fits = type(each) == "table" and type(each.from) == "number" and type(each.drafts) == "table"
      and (each.down == nil or type(each.down) == "number") and each.from > before and ascending(each.drafts)
    if not fits then
      error(("ema.ladders[%d]: expected {from = requests, drafts = {0, 1, ...}}, ascending in both"):format(i), 0)
    end
    before = each.from
  end
  if before == 0 then error("ema.ladders: expected at least one ladder", 0) end
end

---@return integer
function Ema:depth()
  local most = 0
  check(self.ladders)
  for _, each in ipairs(self.ladders) do most = math.max(most, each.drafts[#each.drafts]) end
  return most
end

local function first_place(drafts, wanted)
  for i, value in ipairs(drafts) do
    if value == wanted then return i end
  end
  return math.floor(#drafts / 2) + 1
end

--- The ladder of a number of requests, and its state.
function Ema:of(requests)
  local states, chosen = self.states, 1
  if not states then
    states = {}
    for i, each in ipairs(self.ladders) do
      local place = first_place(each.drafts, self.draft_tokens)
      states[i] = { place = place, mean = each.drafts[place] - 1, steps = 0 }
    end
    self.states = states
  end
  for i = 2, #states do
    if self.ladders[i].from <= requests then chosen = i end
  end
  return self.ladders[chosen], states[chosen]
end

---@param batch rooflua.Batch
---@return integer k
function Ema:drafts(batch)
  local ladder, state = self:of(batch.decodes)
  return ladder.drafts[state.place]
end

--- The place on the ladder after a decision.
local function moved(drafts, place, mean, down)
  if drafts[place] == 0 then return math.min(place + 1, #drafts) end
  local from = place
  while place > 1 do
    local lower = drafts[place - 1]
    if mean > (lower == 0 and 0.5 or lower - 0.5) + down then break end
    place = place - 1
  end
  if place < from then return place end
  while place < #drafts and mean > drafts[place] - 0.5 do place = place + 1 end
  return place
end

---@param seen rooflua.SpecSeen
function Ema:landed(seen)
  if seen.rows == 0 then return end
  local ladder, state = self:of(seen.rows)
  local drafts = ladder.drafts
  if seen.drafted > 0 then
    state.mean = (1 - self.weight) * state.mean + self.weight * seen.accepted / seen.rows
  end
  state.steps = state.steps + 1
  if state.steps <= self.warm_up or (state.steps - self.warm_up) % self.every ~= 0 then return end
  local place = moved(drafts, state.place, state.mean, ladder.down or 0)
  if drafts[state.place] == 0 and drafts[place] > 0 and state.mean < 0 then state.mean = drafts[place] - 1 end
  state.place = place
end

return Ema
