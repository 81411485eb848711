-- Which releases of engines divide one request over ranks: `cp_of` and `dcp_of` of their rules.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local values = require "rooflua.engines.values"

local context_parallel = {}

local what = { cp = "divides no prompts of", dcp = "divides the KV of no request in" }

--- The first kind of attention of a model that is not in a list; nil where all are.
local function missing(model, list)
  for _, each in ipairs(core.plain(model.attention)) do
    if not core.is_among(each.kind, list) then return each.kind end
  end
end

--- The newest release of each engine that does it: "sglang 0.5.14".
local function others(key, facts)
  local out = {}
  for _, name in ipairs(catalogue.lending_names()) do
    local engine = catalogue.of(name)
    local newest = catalogue.newest(engine)
    local list = values.of(engine, newest, facts).values[key .. "_of"]
    if list and not missing(facts.model, list) then out[#out + 1] = name .. " " .. newest end
  end
  return #out > 0 and core.join(out, " and ") .. (#out > 1 and " do" or " does") or "no engine that is known does"
end

--- Refuses widths that the engine's release does not have, and blocks that ranks of dcp cannot hold equal parts of. An
--- engine of its own whose rules say nothing has all widths.
--- @param resolved table of values.of
--- @param block_size any what the scenario says: tokens of a block on all ranks of dcp together
function context_parallel.check(reader, resolved, block_size)
  local facts = resolved.facts
  if type(block_size) == "number" and facts.dcp > 1 and block_size % facts.dcp ~= 0 then
    reader:fail("deployment.block_size", "%.14g tokens are on %d ranks of dcp, %.5g on each; a multiple of %d is right",
      block_size, facts.dcp, block_size / facts.dcp, facts.dcp)
  end
  for _, key in ipairs { "cp", "dcp" } do
    local list = resolved.values[key .. "_of"]
    if facts[key] > 1 and facts.model and list then
      local kind = missing(facts.model, list)
      if kind then
        reader:fail("deployment." .. key, "%s %s %s %s attention (%s); %s", resolved.engine.name, resolved.release,
          what[key], kind, resolved.sources[key .. "_of"], others(key, facts))
      end
    end
  end
end

return context_parallel
