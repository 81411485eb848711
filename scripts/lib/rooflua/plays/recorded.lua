-- Rows of a play from recorded requests: which request waited for which follows from their times.
--
-- A play has agents: the main one and those that it started. The requests of an agent follow each other. A request
-- waits for
--   the one before it of its agent;
--   the first of an agent: the last request of its parent that had begun;
--   agents that its agent started since its last request, and that had ended.
-- Of what had ended when a request began, the one that ended last keeps its recorded pause; the others have none, so
-- that a faster server makes the play shorter. What still ran is followed from the moment at which it was sent.
local recorded = {}

--- How long before its recorded start a request may end and still count as before it.
local slack_s = 1e-6

--- Agents that a request of `agent` waits for: started since `since_s`, ended by `until_s`.
local function joined(agents, agent, since_s, until_s)
  local out = {}
  for _, each in ipairs(agents) do
    local last = each.requests[#each.requests]
    if each.parent == agent and last and each.start_s >= since_s - slack_s and not each.joined
      and each.end_s <= until_s + slack_s then
      each.joined = true
      out[#out + 1] = last
    end
  end
  return out
end

--- The parents of a request, of what came before it.
local function parents_of(request, before)
  if #before == 0 then return nil end
  local latest
  for _, each in ipairs(before) do
    if each.end_s <= request.start_s + slack_s and (not latest or each.end_s > latest.end_s) then latest = each end
  end
  local out = {}
  for _, each in ipairs(before) do
    if each.end_s > request.start_s + slack_s then
      out[#out + 1] = { row = each.row, event = "sent", delay_s = math.max(0, request.start_s - each.start_s) }
    elseif each == latest then
      out[#out + 1] = { row = each.row, event = "ended", delay_s = math.max(0, request.start_s - each.end_s) }
    else
      out[#out + 1] = { row = each.row, event = "ended", delay_s = 0 }
    end
  end
  return out
end

--- The last request of a list that had begun by then.
local function begun(requests, at_s)
  local found
  for _, each in ipairs(requests) do
    if each.start_s <= at_s + slack_s then found = each end
  end
  return found
end

--- Rows in the order in which they were sent.
--- @param agents table[] {parent = agent or nil, requests = {{start_s, end_s, prompt_tokens, output_tokens, content}}};
---   the first is the main one
function recorded.rows(agents)
  local all = {}
  for number, agent in ipairs(agents) do
    local requests = agent.requests
    agent.start_s, agent.end_s = requests[1] and requests[1].start_s or 0, 0
    for position, each in ipairs(requests) do
      each.agent, each.position, each.number = agent, position, number
      agent.end_s = math.max(agent.end_s, each.end_s)
      all[#all + 1] = each
    end
  end
  table.sort(all, function(a, b)
    if a.start_s ~= b.start_s then return a.start_s < b.start_s end
    if a.number ~= b.number then return a.number < b.number end
    return a.position < b.position
  end)
  local rows = {}
  for i, each in ipairs(all) do
    each.row = i
    local before = {}
    if each.position > 1 then
      local previous = each.agent.requests[each.position - 1]
      before[1] = previous
      for _, last in ipairs(joined(agents, each.agent, previous.start_s, each.start_s)) do
        before[#before + 1] = last
      end
    elseif each.agent.parent then
      before[1] = begun(each.agent.parent.requests, each.start_s)
    end
    rows[i] = { prompt_tokens = each.prompt_tokens, output_tokens = each.output_tokens, content = each.content,
      output_content = each.output_content, parents = parents_of(each, before), session = each.number,
      start_s = each.start_s, end_s = each.end_s }
    if not rows[i].parents and each.start_s > 0 then rows[i].not_before_s = each.start_s end
  end
  return rows
end

return recorded
