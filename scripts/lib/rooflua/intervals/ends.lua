-- Ends of intervals, and which of them hold for a kind: {tpot = {low, high}, ttft, e2e} of log(measured / simulated).
--
--     residuals = {tables = basis, models = basis, ...}
--     basis     = {kinds = {key = {load = known}}, unseen = {load = ends}}
--     known     = ends with {deployments, points, gpus, left_out = ends, only = model, or without = {model = ends}}
--
-- Simulations that rest on models have the ends of both bases, so that an interval never becomes narrower where less is
-- known. A kind that was measured on models alone has their ends on tables too.
local ends = {}

ends.metrics = { "tpot", "ttft", "e2e" }

function ends.copied(of)
  local out = {}
  for _, metric in ipairs(ends.metrics) do out[metric] = { of[metric][1], of[metric][2] } end
  return out
end

--- Moves each end outwards to that of `other`.
function ends.widen(of, other)
  for _, metric in ipairs(ends.metrics) do
    of[metric][1] = math.min(of[metric][1], other[metric][1])
    of[metric][2] = math.max(of[metric][2], other[metric][2])
  end
  return of
end

--- Ends that are farther out: {metric = {low, high}} times as far.
function ends.stretched(of, factors)
  local out = ends.copied(of)
  for _, metric in ipairs(ends.metrics) do
    out[metric][1] = math.min(out[metric][1], out[metric][1] * factors[metric][1])
    out[metric][2] = math.max(out[metric][2], out[metric][2] * factors[metric][2])
  end
  return out
end

local function known(basis, key, load) return basis.kinds[key] and basis.kinds[key][load] end

--- What was measured of a kind, of which the outermost ends hold; empty of a kind that was never measured.
function ends.known(residuals, key, load, basis)
  local tables, models = known(residuals.tables, key, load), known(residuals.models, key, load)
  if basis == "tables" then return { tables or models } end
  return models and { models, tables } or { tables }
end

local function outermost(list)
  local out = ends.copied(list[1])
  for i = 2, #list do ends.widen(out, list[i]) end
  return out
end

--- The ends of a kind that was never measured.
function ends.unseen(residuals, load, basis)
  local tables, models = residuals.tables.unseen[load], residuals.models.unseen[load]
  return outermost(basis == "tables" and { tables } or { models, tables })
end

--- The ends that a kind would have if it had never been measured.
function ends.left_out(residuals, key, load, basis)
  local list = {}
  for _, name in ipairs(basis == "tables" and { "tables" } or { "models", "tables" }) do
    local of = known(residuals[name], key, load)
    list[#list + 1] = of and of.left_out or residuals[name].unseen[load]
  end
  return outermost(list)
end

--- The ends of a kind under a load.
--- @param family string? a model whose points are left out: what others say of the kind
function ends.of(residuals, key, load, basis, family)
  local list = ends.known(residuals, key, load, basis)
  if #list == 0 then return ends.unseen(residuals, load, basis) end
  if basis == "models" and list[1] ~= known(residuals.models, key, load) then
    list[2] = residuals.models.unseen[load]
  end
  for i, of in ipairs(family and list or {}) do
    list[i] = of.only == family and of.left_out or of.without and of.without[family] or of
  end
  return outermost(list)
end

return ends
