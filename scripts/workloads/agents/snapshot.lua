-- A play that is under way when a measurement begins: what of it is sent to warm the caches, and what is measured.
--
-- The play stands at a moment of its recording. Of each agent that goes on after that moment, the last request before
-- it is sent again for one token: it carries the whole context. Then the next requests follow for one token each,
-- without pauses. What is left is measured: it begins at the barrier, when all warm-up requests of all plays have
-- ended.
-- @source ai-dynamo/aiperf, docs/benchmark-modes/semianalysis-agentx-faq.md;
--         SemiAnalysisAI/InferenceX pull request 2415
local snapshot = {}

local function length_of(rows)
  local longest = 0
  for _, row in ipairs(rows) do longest = math.max(longest, row.end_s) end
  return longest
end

--- The last row of each agent before a moment, for agents that go on after it; and the rows after it, in order.
local function parts(rows, moment_s)
  local last, after, goes_on = {}, {}, {}
  for i, row in ipairs(rows) do
    if row.start_s < moment_s then
      last[row.session] = i
    else
      after[#after + 1], goes_on[row.session] = i, true
    end
  end
  local primers = {}
  for i, row in ipairs(rows) do
    if last[row.session] == i and goes_on[row.session] then primers[#primers + 1] = i end
  end
  return primers, after
end

local function copy(row)
  local out = {}
  for key, value in pairs(row) do out[key] = value end
  return out
end

--- The same play from a moment of its recording on.
--- @param share number which part of the recording lies before the moment
--- @param requests integer warm-up requests after those that carry the contexts
function snapshot.cut(play, share, requests)
  local rows = play.rows
  local moment_s = share * length_of(rows)
  local primers, after = parts(rows, moment_s)
  if #after == 0 then return nil end
  local out, place, from_s = {}, {}, moment_s
  local function add(i, warm)
    local row = copy(rows[i])
    row.warm, row.cancel = warm or nil, nil
    if warm then row.output_tokens, row.max_output_tokens = 1, nil end
    place[i] = #out + 1
    out[#out + 1] = row
    return row
  end
  for _, i in ipairs(primers) do add(i, true).parents = nil end -- barrier 0
  for k, i in ipairs(after) do
    local warm = k <= requests
    local row = add(i, warm)
    row.barrier = warm and 1 or 2
    if warm then from_s = math.max(from_s, row.start_s) end
  end
  local first = #primers + 1
  for k = first, #out do
    local row, kept, from_warm = out[k], {}, false
    for _, each in ipairs(row.parents or {}) do
      local parent = place[each.row]
      if parent and (row.warm or not out[parent].warm) then
        kept[#kept + 1] = { row = parent, event = each.event, delay_s = row.warm and 0 or each.delay_s }
      else
        from_warm = true
      end
    end
    row.parents = #kept > 0 and kept or nil
    row.not_before_s = (from_warm or not row.parents) and not row.warm and math.max(0, row.start_s - from_s) or nil
  end
  return { name = play.name, rows = out }
end

return snapshot
