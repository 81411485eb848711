--- Compares two simulations request by request: which requests got faster or slower, and under which heading (the
--- parts of a request's time: queue, prefill, decode, ...) most time moved.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local units = require "rooflua.text.units"

local differences = {}

--- The heading that moved most in the direction of the change, and by how much.
local function reason(a, b, change_s)
  local best, best_s = "", 0
  for _, side in ipairs { a, b } do
    for heading in pairs(side) do
      local moved_s = (b[heading] or 0) - (a[heading] or 0)
      if moved_s * change_s > 0 and (math.abs(moved_s) > math.abs(best_s)
        or math.abs(moved_s) == math.abs(best_s) and heading < best) then
        best, best_s = heading, moved_s
      end
    end
  end
  return best, best_s
end

--- Times by heading that add up to a metric of a request: for a TTFT the times up to the first token, for a TPOT
--- those after it, per token.
local function headings_of(ended, metric)
  if metric == "e2e_s" then return ended.where_s end
  local out = {}
  for heading, time_s in pairs(metric == "tpot_s" and ended.where_s or ended.where_to_first_s) do
    if metric == "tpot_s" then
      time_s = (time_s - (ended.where_to_first_s[heading] or 0)) / math.max(ended.output_tokens - 1, 1)
    end
    if metric ~= "queue_s" or heading:find "^queue" then out[heading] = time_s end
  end
  return out
end

local function by_id(ended)
  local out = {}
  for _, each in ipairs(ended) do out[each.id] = each end
  return out
end

--- Largest gain first; ties by id.
local function sorted(rows)
  table.sort(rows, function(x, y)
    if x.change_s ~= y.change_s then return x.change_s < y.change_s end
    return x.id < y.id
  end)
  return rows
end

--- Rows of the requests that have the metric in both, largest gain first; `metric` is e2e_s, ttft_s, tpot_s or
--- queue_s. Also the numbers of equal ones and of those that only one simulation has.
function differences.rows(a, b, metric)
  local other, rows, same, only_a = by_id(b), {}, 0, 0
  for _, each in ipairs(a) do
    local twin = other[each.id]
    if twin and each[metric] and twin[metric] then
      if each.prompt_tokens ~= twin.prompt_tokens then
        core.fail("measure.diff: request %d has %d prompt tokens in one and %d in the other; "
          .. "compare forks, or runs of one workload and seed", each.id, each.prompt_tokens, twin.prompt_tokens)
      end
      local change_s = twin[metric] - each[metric]
      if change_s == 0 then same = same + 1 end
      local heading, moved_s = reason(headings_of(each, metric), headings_of(twin, metric), change_s)
      rows[#rows + 1] = { id = each.id, prompt_tokens = each.prompt_tokens, output_tokens = each.output_tokens,
        a_s = each[metric], b_s = twin[metric], change_s = change_s, reason = heading, reason_s = moved_s }
      other[each.id] = nil
    else
      only_a = only_a + 1
      if twin then other[each.id] = nil end
    end
  end
  local only_b = 0
  for _ in pairs(other) do only_b = only_b + 1 end
  return sorted(rows), same, only_a, only_b
end

local function change_text(change_s)
  return (change_s > 0 and "+" or change_s < 0 and "-" or "") .. units.text(math.abs(change_s), "s")
end

local function count_of(rows, sign)
  local count, sum_s, reasons = 0, 0, {}
  for _, row in ipairs(rows) do
    if row.change_s * sign > 0 then
      count, sum_s = count + 1, sum_s + row.change_s
      reasons[row.reason] = (reasons[row.reason] or 0) + 1
    end
  end
  local list = {}
  for _, name in ipairs(core.sorted_keys(reasons)) do list[#list + 1] = { name, reasons[name] } end
  table.sort(list, function(x, y)
    if x[2] ~= y[2] then return x[2] > y[2] end
    return x[1] < y[1]
  end)
  local parts = {}
  for i = 1, math.min(#list, 3) do parts[i] = list[i][1] .. " (" .. list[i][2] .. ")" end
  return count, count > 0 and sum_s / count or 0, core.join(parts, ", ")
end

--- The report: how many requests got faster and slower, by how much and why; then the `top` rows of both ends.
function differences.text(name_a, name_b, metric, rows, same, only_a, only_b, top)
  local faster, faster_s, faster_why = count_of(rows, -1)
  local slower, slower_s, slower_why = count_of(rows, 1)
  local lines = { ("%s of %d requests, %s against %s"):format(metric, #rows, name_b, name_a) }
  local counts = {}
  local function count_line(what, count, mean_s, why)
    if count == 0 then return end
    counts[#counts + 1] = { what, tostring(count), "mean " .. change_text(mean_s), "mostly " .. why }
  end
  count_line("faster", faster, faster_s, faster_why)
  count_line("slower", slower, slower_s, slower_why)
  if same > 0 then counts[#counts + 1] = { "the same", tostring(same), "", "" } end
  if #counts > 0 then
    table.insert(counts, 1, { "", "", "", "" })
    lines[#lines + 1] = columns.text(counts, "  "):gsub("^%s*\n", "")
  end
  if only_a + only_b > 0 then
    lines[#lines + 1] = ("  ended in only one of them: %d in %s, %d in %s"):format(only_a, name_a, only_b, name_b)
  end
  local cells = { { "request", "prompt", "output", name_a, name_b, "change", "because of" } }
  local function add(row)
    cells[#cells + 1] = { tostring(row.id), units.grouped(row.prompt_tokens), units.grouped(row.output_tokens),
      units.text(row.a_s, "s"), units.text(row.b_s, "s"), change_text(row.change_s),
      row.reason == "" and "" or row.reason .. " " .. change_text(row.reason_s) }
  end
  local moved = {}
  for _, row in ipairs(rows) do
    if row.change_s ~= 0 then moved[#moved + 1] = row end
  end
  if #moved <= 2 * top then
    for _, row in ipairs(moved) do add(row) end
  else
    for i = 1, top do add(moved[i]) end
    cells[#cells + 1] = { "..." }
    for i = #moved - top + 1, #moved do add(moved[i]) end
  end
  if #moved > 0 then lines[#lines + 1] = "\n" .. columns.text(cells, "  ") end
  return core.join(lines, "\n")
end

return differences
