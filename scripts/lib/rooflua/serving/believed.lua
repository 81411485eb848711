-- What files of a start say beside what the ledger believes: memory, tokens, blocks, concurrency; with a likely cause
-- for what differs by more than 5 %.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"
local seen = require "rooflua.startup.seen"
local units = require "rooflua.text.units"

local believed = {}

local gib, threshold = 2 ^ 30, 0.05
local least_gib = 0.1 -- smaller differences of memory are no difference

local function part(found, ...)
  local sum, has = 0, false
  for _, wanted in ipairs { ... } do
    for _, each in ipairs(found.parts) do
      if each.name == wanted then sum, has = sum + each.bytes / gib, true end
    end
  end
  return has and sum or nil
end

local function seen_value(start, name)
  local fact = start.facts[name]
  return fact and fact.value
end

--- What graphs take together with activations, where the engine sets both aside as one.
local function joined(found) return part(found, "activations and graphs") == nil end

--- Rows {name, unit, believed(found), seen(start)}.
local rows = {
  { "weights", "GiB", function(found) return part(found, "weights", "drafter") end, "weights_gib" },
  { "activations", "GiB", function(found) return joined(found) and part(found, "activations") or nil end,
    "activation_gib" },
  { "graphs", "GiB", function(found)
    local own = joined(found) and part(found, "graphs")
    return own and own > 0 and own or nil -- releases that do not count them have none
  end, "graphs_gib" },
  { "outside of PyTorch", "GiB", function(found) return part(found, "non-torch") end, "non_torch_gib" },
  { "outside of PyTorch, with graphs", "GiB", function(found) return part(found, "non-torch", "graphs") end,
    "outside_gib" },
  { "KV cache", "GiB", function(found) return found.kv_bytes / gib end, "kv_gib" },
  { "KV tokens", "tokens", function(found) return found.tokens end, "kv_tokens" },
  { "KV blocks", "blocks", function(found) return found.blocks end, "kv_blocks" },
  { "longest requests that fit", "x", function(found) return found.concurrency end, "concurrency" },
  { "running requests", "requests", function(found) return found.running_requests end, "running_requests" },
  { "memory of the GPU", "GiB", function(found) return found.facts.hardware.usable_memory_bytes / gib end,
    "memory_gib" },
}

--- Weights of an engine that prints them with what lies outside of PyTorch.
local function consumed_row(found, start)
  if not start.facts.consumed_gib or start.facts.weights_gib then return nil end
  local function own() return part(found, "weights", "drafter", "non-torch") end
  return { "weights and outside of PyTorch", "GiB", own, "consumed_gib" }
end

local of_cache = core.set { "KV cache", "KV tokens", "KV blocks", "longest requests that fit" } -- names of rows

--- Which of several causes fits a difference best; nil where none is known.
local function cause_of(name, is_more, start, found)
  local free, memory = seen_value(start, "free_gib"), seen_value(start, "memory_gib")
  if name == "weights" then
    return is_more and "the checkpoint has more than the model's layers, or another format: check --model"
      or "the checkpoint is of a smaller format, or holds less: check --model"
  end
  if name == "memory of the GPU" then return "another variant of the GPU: check --hardware" end
  if of_cache[name] then
    local outside, own = seen_value(start, "outside_gib"), part(found, "non-torch", "graphs")
    if not is_more and outside and own and outside - own > 2 then
      return ("%.1f GiB more than expected lie outside of PyTorch: other processes, or the host on unified memory")
        :format(outside - own)
    end
    if not is_more and free and memory and memory - free > 1 then
      return ("others hold %.1f GiB of the GPU at the start"):format(memory - free)
    end
    for _, each in ipairs(start.warnings) do
      if each.text:find "eager" then return each.text end
    end
    if start.facts.kv_tokens and start.facts.kv_tokens.differs then return "the ranks differ, and the least counts" end
    return name == "KV cache" and "what the other parts leave" or "follows from the KV cache"
  end
  if name == "activations" then return "the seats, the budget of a step or the kernels differ from what is believed" end
  if name == "graphs" then return "other batches are captured, or the pool is shared" end
end

local function differs(row)
  if row.believed == nil or row.seen == nil then return false end
  if row.unit == "GiB" and math.abs(row.believed - row.seen) < least_gib then return false end
  return math.abs(row.seen - row.believed) > threshold * math.max(math.abs(row.seen), math.abs(row.believed))
end

--- {sources, believed, seen, differences, warnings, error, kernels} of a ledger and of files.
---@param found table of serving/capacity.lua
---@param start table of startup/seen.lua
function believed.of(found, start)
  local out = { sources = json.array {}, rows = json.array {}, differences = json.array {}, warnings = json.array {},
    believed = {}, seen = {}, starts = found.starts, reason = not found.starts and found.reason or nil }
  for i, record in ipairs(start.records) do
    out.sources[i] = { file = record.file, form = record.form, understood = record.understood,
      not_understood = record.not_understood, lines = record.count }
  end
  for name, fact in core.sorted_pairs(start.facts) do
    local value = fact.value
    out.seen[name] = type(value) == "string" and native.printable(value) or value
  end
  local list = core.copy(rows)
  list[#list + 1] = consumed_row(found, start)
  for _, each in ipairs(list) do
    local own, fact = each[3](found), start.facts[each[4]]
    if own ~= nil then out.believed[each[4]] = own end
    if own ~= nil and fact then
      local row = { name = each[1], unit = each[2], believed = own, seen = fact.value, line = seen.place(fact),
        ranks = fact.ranks > 1 and fact.ranks or nil }
      out.rows[#out.rows + 1] = row
      if differs(row) then
        out.differences[#out.differences + 1] = { name = row.name, believed = own, seen = fact.value,
          cause = cause_of(each[1], fact.value > own, start, found) }
      end
    end
  end
  for i, each in ipairs(start.warnings) do
    out.warnings[i] = { text = each.text, line = ("%s:%d"):format(each.file, each.line) }
  end
  out.kernels = { attention = out.seen.attention, moe = out.seen.moe }
  if start.error then
    out.error = { kind = start.error.kind, line = ("%s:%d"):format(start.error.file, start.error.line),
      text = native.printable(start.error.text or ""), after_start = start.error.later and true or nil }
  end
  return out
end

-- Text ---------------------------------------------------------------------------------------------------------------

local function value_text(unit, value)
  if unit == "GiB" then return ("%.2f GiB"):format(value) end
  if unit == "x" then return ("%.2fx"):format(value) end
  return units.grouped(value)
end

local function change_text(row)
  if row.believed == 0 then return "" end
  return ("%+.1f %%"):format(100 * (row.seen / row.believed - 1))
end

--- What the ledger says of an error that ended the start.
local function error_lines(beside)
  local own = beside.error
  local what = own.after_start and "an error after the start" or "the start ended in an error"
  local lines = { ("%s at %s: %s"):format(what, own.line, own.text) }
  if own.after_start then return lines end
  local is_memory = own.kind == "memory" or own.kind == "length" or own.kind == "graphs"
  if not beside.starts then
    lines[2] = "the ledger: it would not start: " .. beside.reason
  elseif own.kind == "others" then
    lines[2] = "the ledger: it would start on a GPU that holds nothing else"
  elseif is_memory then
    lines[2] = "the ledger: it would start; look for other processes on the GPU, or for what differs above"
  else
    lines[2] = "the ledger: memory is not the cause, it would start"
  end
  return lines
end

--- Differences of one cause together, in their order: "KV cache, KV tokens: CAUSE".
local function by_cause(differences)
  local out, place = {}, {}
  for _, each in ipairs(differences) do
    local at = each.cause and place[each.cause]
    if at then
      out[at] = out[at] .. ", " .. each.name
    else
      out[#out + 1] = each.name
      if each.cause then place[each.cause] = #out end
    end
  end
  for cause, at in pairs(place) do out[at] = out[at] .. ": " .. cause end
  return out
end

--- The lines below the ledger: believed and seen, differences, warnings, the error.
function believed.text(beside)
  local lines, words = {}, {}
  for i, source in ipairs(beside.sources) do
    words[i] = ("%s (%s, %d of %d %s understood)"):format(source.file, source.form:gsub("_", " "), source.understood,
      source.lines, source.form == "manifest" and "values" or "lines")
  end
  lines[1] = "\nbelieved and seen in " .. core.join(words, ", ")
  for _, row in ipairs(beside.rows) do
    lines[#lines + 1] = ("  %-30s %12s %12s  %8s  %s%s"):format(row.name, value_text(row.unit, row.believed),
      value_text(row.unit, row.seen), change_text(row), row.line,
      row.ranks and (", of %d ranks"):format(row.ranks) or "")
  end
  if #beside.rows == 0 then lines[#lines + 1] = "  no line says what a part of the memory takes" end
  for _, each in ipairs(by_cause(beside.differences)) do
    lines[#lines + 1] = "  differs by more than 5 %: " .. each
  end
  if beside.kernels.attention then lines[#lines + 1] = "  kernels of attention: " .. beside.kernels.attention end
  if beside.kernels.moe then lines[#lines + 1] = "  kernels of experts: " .. beside.kernels.moe end
  for _, each in ipairs(beside.warnings) do lines[#lines + 1] = ("  %s (%s)"):format(each.text, each.line) end
  for _, line in ipairs(beside.error and error_lines(beside) or {}) do lines[#lines + 1] = "  " .. line end
  return core.join(lines, "\n")
end

return believed
