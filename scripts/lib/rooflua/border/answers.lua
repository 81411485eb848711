--- Checks of what policies answer. An error names the file and line of the method that answered: when the answer is
--- read, the method is no longer on the stack.
local core = require "rooflua.base.core"

local answers = {}
local type, infinity = type, math.huge

--- Raises an error about the answer of a policy's method.
---@param kind string "scheduler", "router", ...
---@param method string
function answers.wrong(kind, instance, method, message, ...)
  local defined = debug.getinfo(instance[method], "S")
  local file = defined.source:match "^@(.*)" or defined.short_src
  error(("%s:%d: %s %s: %s"):format(file, defined.linedefined, kind, tostring(instance.name), message:format(...)), 0)
end
local wrong = answers.wrong

local function wrong_groups(bucketing, message, ...)
  wrong("bucketing", bucketing, "groups", "groups(prefills): " .. message, ...)
end

local function check_group(bucketing, group, g)
  if type(group) ~= "table" then
    wrong_groups(bucketing, "[%d]: expected a table, found %s", g, core.describe(group))
  end
  local seq_len = group.seq_len
  if type(seq_len) ~= "number" or not (seq_len > 0 and seq_len < infinity) then
    wrong_groups(bucketing, "[%d].seq_len: expected a number > 0, found %s", g, core.describe(seq_len))
  end
  if type(group.members) ~= "table" then
    wrong_groups(bucketing, "[%d].members: expected a list of indices into prefills, found %s", g,
      core.describe(group.members))
  end
end

-- The number of the check in which each prefill was seen last. A table for all checks: nothing is allocated.
local seen, check = {}, 0

--- Every prefill is in exactly one group, and requests and tokens of a group are those of its members.
---@param groups table what bucketing:groups(prefills) returned
function answers.groups(bucketing, groups, prefills)
  if type(groups) ~= "table" then
    wrong_groups(bucketing, "expected a list of groups, found %s", core.describe(groups))
  end
  local count, grouped = #prefills, 0
  check = check + 1
  for g = 1, #groups do
    local group = groups[g]
    check_group(bucketing, group, g)
    local members, tokens = group.members, 0
    for i = 1, #members do
      local member = members[i]
      if type(member) ~= "number" or not (member >= 1 and member <= count) or member % 1 ~= 0 then
        wrong_groups(bucketing, "[%d].members[%d]: expected an index from 1 to %d, found %s", g, i, count,
          core.describe(member))
      end
      if seen[member] == check then wrong_groups(bucketing, "prefill %d is in two groups, or twice in one", member) end
      seen[member] = check
      tokens = tokens + prefills[member].new_tokens
    end
    if group.requests ~= #members then
      wrong_groups(bucketing, "[%d].requests: expected %d, as many as members, found %s", g, #members,
        core.describe(group.requests))
    end
    if group.new_tokens ~= tokens then
      wrong_groups(bucketing, "[%d].new_tokens: expected %d, those of its members, found %s", g, tokens,
        core.describe(group.new_tokens))
    end
    grouped = grouped + #members
  end
  if grouped ~= count then
    wrong_groups(bucketing, "%d of %d prefills are in no group; each must be in one", count - grouped, count)
  end
  return groups
end

--- Raises the error of what cost.record was given.
function answers.wrong_record(name, time_s, count, flop, bytes, bound)
  if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
    core.fail("cost.record: time_s: expected seconds >= 0, found %s", core.describe(time_s))
  end
  if type(name) ~= "string" then core.fail("cost.record: name: expected text, found %s", core.describe(name)) end
  if type(count) ~= "number" or not (count >= 0 and count < infinity) then
    core.fail("cost.record: count: expected a number >= 0, found %s", core.describe(count))
  end
  for what, value in core.sorted_pairs { flop = flop, bytes = bytes } do
    if type(value) ~= "number" or not (value >= 0 and value < infinity) then
      core.fail("cost.record: %s: expected a number >= 0, found %s", what, core.describe(value))
    end
  end
  core.fail("cost.record: bound: expected text, found %s", core.describe(bound))
end

return answers
