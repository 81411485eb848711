-- The batch of a step: what its range says of it, or what the command line says of all steps.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local units = require "rooflua.text.units"

local batches = {}

local floor, max = math.floor, math.max

--- A list of so many numbers whose mean is `mean`.
local function spread(total, count)
  local out, base = {}, floor(total / count)
  for i = 1, count do out[i] = base + (i <= total - base * count and 1 or 0) end
  return out
end

--- {given, key, text} of what a range says; nil and the reason where it does not say enough.
---@param found table of rows.step
---@param context number? of decodes, where the range does not say it
function batches.of_range(found, context)
  local prompts, decodes = found.prompts or 0, found.decodes or 0
  if prompts == 0 and decodes == 0 then return nil, "says nothing of its batch" end
  local given, words = {}, {}
  if prompts > 0 then
    if not found.prompt_tokens then return nil, "does not say how long its prompts are" end
    local before = max(0, (found.prompt_kv or found.prompt_tokens) - found.prompt_tokens)
    local new, old = spread(found.prompt_tokens, prompts), spread(before, prompts)
    given.prefills = {}
    for i = 1, prompts do given.prefills[i] = { new_tokens = max(1, new[i]), context_tokens = old[i] } end
    words[1] = ("%s of %s new tokens together"):format(units.counted(prompts, "prompt"),
      units.grouped(found.prompt_tokens))
  end
  if decodes > 0 then
    local each = found.decode_kv and found.decode_kv / decodes - 1 or context
    if not each then return nil, "does not say how long the contexts of its decodes are; give --context TOKENS" end
    given.decode_contexts = spread(max(1, floor(each)) * decodes, decodes)
    words[#words + 1] = ("%s at %s tokens"):format(units.counted(decodes, "decode"), units.grouped(max(1, floor(each))))
  end
  local text = core.join(words, ", ")
  return { given = given, key = text .. (given.prefills and given.prefills[1].context_tokens or 0), text = text,
    prompts = prompts, decodes = decodes, tokens = (found.prompt_tokens or 0) + decodes }
end

--- The batch that --prefill and --decode say, for all steps.
---@param given table as a scenario of kind price has it
function batches.stated(given)
  local prompts, decodes, tokens, words = given.prefills or {}, given.decode_contexts or {}, 0, {}
  for _, each in ipairs(prompts) do tokens = tokens + each.new_tokens end
  if #prompts > 0 then
    words[1] = ("%s of %s new tokens together"):format(units.counted(#prompts, "prompt"), units.grouped(tokens))
  end
  local sum = 0
  for _, each in ipairs(decodes) do sum = sum + each end
  if #decodes > 0 then
    words[#words + 1] = ("%s at %s tokens"):format(units.counted(#decodes, "decode"),
      units.grouped(floor(sum / #decodes)))
  end
  return { given = { prefills = given.prefills, decode_contexts = given.decode_contexts }, key = "stated",
    text = core.join(words, ", "), prompts = #prompts, decodes = #decodes, tokens = tokens + #decodes }
end

--- Refuses a stated batch that a range contradicts.
function batches.check(stated, step)
  for _, name in ipairs { "prompts", "decodes" } do
    local said = step.found[name]
    if said and said ~= stated[name] then
      core.fail("step %d: its range '%s' says %d %s, and the command line %d; name steps of one batch with --steps",
        step.number, step.label, said, name, stated[name])
    end
  end
end

--- As the step model takes it.
function batches.made(own) return batch.new(own.given) end

return batches
