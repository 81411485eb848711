-- The answer of `rooflua upgrade` as a report.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local document = require "rooflua.upgrade.document"
local json = require "rooflua.json"
local native = require "rooflua.native"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local text = {}

local widest = 79
local gib = 2 ^ 30
local limits = { { "max_num_seqs", "requests at once" }, { "max_num_batched_tokens", "tokens of a step" },
  { "max_model_len", "longest request" }, { "block_size", "tokens of a block" } }

local function plain_text(value)
  if value == nil or value == json.null then return "-" end
  if type(value) == "table" then return json.encode(value) end
  return type(value) == "number" and native.number_text(value) or tostring(value)
end

--- "+4.1 %"; "none (+0.2 %)" where the engine's own runs differ by as much.
local function change_text(before, after, printed)
  if before == after then return "same" end
  local change = document.change(before, after)
  if not change then return "" end
  local said = ("%+.1f %%"):format(100 * change)
  return document.is_none(change, printed) and ("none (%s)"):format(said) or said
end

local function wrapped(said) return columns.wrapped(said, widest) end

--- What became of the options of the command, and the mended command where it is another one.
function text.flag_lines(answer)
  local out, kept = {}, 0
  for _, row in ipairs(answer.flags) do
    if row.state == "gone" then
      out[#out + 1] = wrapped(("   %s  gone: %s"):format(row.flag, row.why))
    elseif row.state == "renamed" then
      out[#out + 1] = wrapped(("   %s  is %s now%s"):format(row.flag, row.to,
        row.to_value ~= nil and ", of value " .. plain_text(row.to_value) or ""))
    else
      kept = kept + 1
    end
  end
  table.insert(out, 1, ("flags: %s as before%s"):format(units.counted(kept, "option"),
    #out == 0 and "" or ", and"))
  if answer.command and #out > 1 then out[#out + 1] = "   " .. answer.command end
  if answer.file and #out > 1 then out[#out + 1] = (answer.file:gsub("([^\n]+)", "   %1")) end
  return out
end

--- A value of a rule, with its unit where that is bytes or seconds.
local function value_text(rule, value)
  local has_unit = type(value) == "number" and (rule.unit == "B" or rule.unit == "s")
  return has_unit and units.text(value, rule.unit) or plain_text(value)
end

--- What a rule does besides the columns: "tokens of a step +8,192".
local function others_of(rule)
  local out, effect = {}, rule.effect
  for _, each in ipairs(limits) do
    local value = effect.memory[each[1]]
    if value then out[#out + 1] = ("%s %+d"):format(each[2], value) end
  end
  for _, name in ipairs { "ttft_s_mean", "tpot_s_mean" } do
    local value = effect.load[name]
    if value then
      out[#out + 1] = ("%s %s%s"):format(words.metric(name), value > 0 and "+" or "-", words.time(math.abs(value)))
    end
  end
  if effect.starts then out[#out + 1] = effect.starts.after and "starts with it" or "does not start with it" end
  if rule.problem then out[#out + 1] = "cannot change alone: " .. rule.problem end
  return out
end

--- The steps that are columns: the first prompt, the first and the last decodes.
local function shown_steps(answer)
  local prompt, first, last
  for i, step in ipairs(answer.steps) do
    if step.name:find "prompt" then
      prompt = prompt or i
    else
      first, last = first or i, i
    end
  end
  local out = {}
  for _, i in ipairs { prompt or false, first or false, last ~= first and last or false } do
    if i then out[#out + 1] = i end
  end
  return out
end

--- The figures of which a rule's share is a column: tokens of the memory, and steps.
local function columns_of(answer)
  local out = { { title = "KV tokens", of = function(effect)
    local value = effect.memory.kv_tokens
    return value and ("%+d"):format(value) or ""
  end } }
  for _, i in ipairs(shown_steps(answer)) do
    local step = answer.steps[i]
    local short = step.name:gsub("^a prompt of (%S+) tokens$", "prompt %1"):gsub("^(%S+) (decodes?) of .*$", "%1 %2")
    out[#out + 1] = { title = short, of = function(effect)
      local value = effect.steps[i]
      if not value or value == 0 or type(step.before_s) ~= "number" then return "" end
      local part = value / step.before_s
      return math.abs(part) < 5e-4 and "~0" or ("%+.1f %%"):format(100 * part)
    end }
  end
  return out
end

--- "rules: 7 changed ones act here, 20 change nothing here (60 changed rows between the releases)".
function text.head_of_rules(answer)
  return ("rules: %s act%s here, %d change nothing here%s"):format(units.counted(#answer.rules, "changed one"),
    #answer.rules == 1 and "s" or "", answer.without_effect,
    answer.rows_between and (" (%s between the releases)"):format(units.counted(answer.rows_between, "changed row"))
      or "")
end

--- The table of rules and what each does, with its head.
function text.rule_rows(answer)
  local shown = columns_of(answer)
  local rows = { { "   rule", "before", "after" } }
  for _, column in ipairs(shown) do table.insert(rows[1], column.title) end
  local function add(name, before, after, effect)
    local row = { "   " .. name, before, after }
    for _, column in ipairs(shown) do row[#row + 1] = column.of(effect) end
    rows[#rows + 1] = row
  end
  for _, rule in ipairs(answer.rules) do
    add(rule.name, value_text(rule, rule.before), value_text(rule, rule.after), rule.effect)
  end
  add("together besides", "", "", answer.rest)
  add("all", "", "", answer.all)
  return rows
end

--- Of each rule: its name, what else it does, and its source.
function text.sources(answer)
  local out = {}
  for i, rule in ipairs(answer.rules) do
    local others = others_of(rule)
    out[i] = ("%s: %s%s"):format(rule.name, #others > 0 and core.join(others, ", ") .. "; " or "",
      rule.source or "no source")
  end
  return out
end

local function rule_lines(answer)
  local out = { text.head_of_rules(answer) }
  if #answer.rules == 0 then return out end
  out[2] = columns.after(3, text.rule_rows(answer))
  for _, each in ipairs(text.sources(answer)) do out[#out + 1] = wrapped("   " .. each) end
  return out
end

local function bytes_text(bytes) return bytes and ("%.2f"):format(bytes / gib) or "-" end

--- The memory of both sides as a table with its head.
function text.memory_rows(answer)
  local a, b = answer.capacity.before, answer.capacity.after
  local rows, names, part = { { "memory of a GPU", "before", "after", "change" } }, {}, { {}, {} }
  for i, side in ipairs { a, b } do
    for _, each in ipairs(side.parts) do
      if part[1][each.name] == nil and part[2][each.name] == nil then names[#names + 1] = each.name end
      part[i][each.name] = each.bytes
    end
  end
  for _, name in ipairs(names) do
    local x, y = part[1][name] or 0, part[2][name] or 0
    if x ~= 0 or y ~= 0 then
      rows[#rows + 1] = { "   " .. name .. ", GiB", bytes_text(x), bytes_text(y), change_text(x, y, true) }
    end
  end
  rows[#rows + 1] = { "   KV cache, GiB", bytes_text(a.kv_bytes), bytes_text(b.kv_bytes),
    change_text(a.kv_bytes, b.kv_bytes, true) }
  rows[#rows + 1] = { "   KV tokens as printed", units.grouped(a.kv_tokens), units.grouped(b.kv_tokens),
    change_text(a.kv_tokens, b.kv_tokens, true) }
  for _, each in ipairs(limits) do
    rows[#rows + 1] = { "   " .. each[2], units.grouped(a[each[1]]), units.grouped(b[each[1]]),
      change_text(a[each[1]], b[each[1]], true) }
  end
  rows[#rows + 1] = { "   starts", a.starts and "yes" or "no", b.starts and "yes" or "no", "" }
  return rows
end

local function memory_lines(answer)
  local a, b = answer.capacity.before, answer.capacity.after
  local out = { columns.after(1, text.memory_rows(answer)) }
  for _, side in ipairs { { "before", a }, { "after", b } } do
    if not side[2].starts then
      out[#out + 1] = wrapped(("   would not start %s: %s"):format(side[1], side[2].reason or "?"))
    end
  end
  return out
end

--- Prices of steps as a table with its head.
function text.step_rows(answer)
  local rows = { { "steps", "before", "after", "change" } }
  for _, each in ipairs(answer.steps) do
    rows[#rows + 1] = { "   " .. each.name, words.time(each.before_s), words.time(each.after_s),
      change_text(each.before_s, each.after_s, false) }
  end
  return rows
end

local function step_lines(answer)
  if answer.steps_problem then return { "steps: " .. answer.steps_problem } end
  return { columns.after(1, text.step_rows(answer)) }
end

--- Metrics of the run under the load as a table with its head.
function text.load_rows(answer)
  local load = answer.load
  local rows = { { "load", "before", "after", "change" } }
  for _, name in ipairs { "ttft_s_mean", "ttft_s_p99", "tpot_s_mean", "tpot_s_p99", "e2e_s_mean",
    "output_tokens_per_s" } do
    local a, b = load.before.metrics[name], load.after.metrics[name]
    rows[#rows + 1] = { "   " .. words.metric(name), words.value(name, a), words.value(name, b),
      change_text(a, b, false) }
  end
  return rows
end

--- Why there are no metrics of a load; nil where there are.
function text.without_load(answer)
  local load = answer.load
  if not load then return "none is asked about (--bench, --workload, --rate, --clients, or a scenario)" end
  for _, side in ipairs { "before", "after" } do
    if load[side].problem then return ("none %s: %s"):format(side, load[side].problem) end
  end
end

local function load_lines(answer)
  local without = text.without_load(answer)
  if without then return { wrapped("load: " .. without) } end
  local out = { columns.after(1, text.load_rows(answer)) }
  for _, each in ipairs(answer.load.after.intervals and answer.load.after.intervals.text or {}) do
    out[#out + 1] = wrapped("   after: " .. each)
  end
  return out
end

--- The report.
---@param answer table of document.of
function text.of(answer)
  local lines = { ("%s -> %s%s"):format(answer.from, answer.to, answer.same and ": nothing changes" or ""), "" }
  for _, list in ipairs { text.flag_lines(answer), rule_lines(answer), memory_lines(answer), step_lines(answer),
    load_lines(answer) } do
    for _, each in ipairs(list) do lines[#lines + 1] = each end
    lines[#lines + 1] = ""
  end
  for _, note in ipairs(answer.notes) do lines[#lines + 1] = wrapped("note      " .. note) end
  if lines[#lines] == "" then lines[#lines] = nil end
  return core.join(lines, "\n") .. "\n"
end

return text
