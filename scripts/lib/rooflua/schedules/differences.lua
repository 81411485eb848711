-- Two schedules compared step by step: `rooflua diff --schedule`.
local reading = require "rooflua.schedules.reading"
local units = require "rooflua.text.units"

local differences = {}

local most_shown = 5

--- "2 prompts of 812 tokens (0+512, 0+300), 60 decodes of 60 tokens after 122,880".
local function step_text(step, says)
  local parts = {}
  if step.prefills > 0 then
    parts[1] = ("%s of %s"):format(units.counted(step.prefills, "prompt"), units.counted(step.prefill_tokens, "token"))
    if says.chunks then parts[1] = parts[1] .. " (" .. table.concat(step.chunks, ", ") .. ")" end
  end
  if step.decodes > 0 then
    local decodes = ("%s of %s"):format(units.counted(step.decodes, "decode"),
      units.counted(step.decode_tokens, "token"))
    parts[#parts + 1] = decodes .. (says.contexts and " after " .. units.grouped(step.context_tokens) or "")
  end
  return #parts > 0 and table.concat(parts, ", ") or "nothing"
end

local function same(a, b, says)
  for _, key in ipairs { "prefills", "prefill_tokens", "decodes", "decode_tokens" } do
    if a[key] ~= b[key] then return false end
  end
  if says.contexts and a.context_tokens ~= b.context_tokens then return false end
  if not says.chunks then return true end
  for i, chunk in ipairs(a.chunks) do
    if chunk ~= b.chunks[i] then return false end
  end
  return true
end

--- Compares the schedules of two files.
---@return table {text, is_same}
function differences.of(path_a, path_b)
  local a, b = reading.of(path_a), reading.of(path_b)
  local says = { chunks = a.says.chunks and b.says.chunks, contexts = a.says.contexts and b.says.contexts }
  local lines, count = { ("A  %s: %s, %s"):format(path_a, a.name, units.counted(#a.steps, "step")),
    ("B  %s: %s, %s"):format(path_b, b.name, units.counted(#b.steps, "step")) }, 0
  local missing = {}
  if not says.chunks then missing[1] = "chunks of single prompts" end
  if not says.contexts then missing[#missing + 1] = "contexts" end
  if #missing > 0 then
    lines[#lines + 1] = "not compared, because one of them does not say it: " .. table.concat(missing, ", ")
  end
  local common = math.min(#a.steps, #b.steps)
  for i = 1, common do
    local one, other = a.steps[i], b.steps[i]
    if not same(one, other, says) then
      count = count + 1
      if count <= most_shown then
        lines[#lines + 1] = ("step %d"):format(i)
        lines[#lines + 1] = ("  A  %s: %s"):format(one.line, step_text(one, says))
        lines[#lines + 1] = ("  B  %s: %s"):format(other.line, step_text(other, says))
      end
    end
  end
  local rest = math.max(#a.steps, #b.steps) - common
  local is_same = count == 0 and rest == 0
  if count > most_shown then lines[#lines + 1] = ("%d more steps differ"):format(count - most_shown) end
  if rest > 0 then
    lines[#lines + 1] = ("%s has %s more"):format(#a.steps > common and "A" or "B", units.counted(rest, "step"))
  end
  lines[#lines + 1] = is_same and ("the same schedule: %s"):format(units.counted(common, "step"))
    or ("%d of %s differ"):format(count, units.counted(common, "step"))
  return { text = table.concat(lines, "\n") .. "\n", is_same = is_same }
end

return differences
