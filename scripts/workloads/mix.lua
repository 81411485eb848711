--- A mix of workloads. Each part is a class with a name, and may have a priority.
---
--- A part draws from random streams of its own: arrivals stay the same when another part changes. The rates of the
--- parts are their shares. A part whose requests have classes of their own, as the tenants of a chat, keeps them:
--- "part, class". Limits of a class stand under slo.classes, by its name.
local inner = require "workloads.composed.inner"
local policy = require "rooflua.policy"

---@class workloads.Mix.Part
---@field name string
---@field workload rooflua.Workload
---@field priority integer?
---@field tenant integer?
---@field program integer?
---@field adapter integer?
---@field deadline_s number?

---@class workloads.Mix: rooflua.Workload
---@field parts workloads.Mix.Part[]
local Mix = policy.define {
  name = "mix",
  doc = "Several workloads at once, each a class with a name, a priority, and limits of its own.",
  params = {
    parts = { default = {}, type = "any", doc = "A list of { name =, workload =, priority =, tenant =, program =, "
      .. "adapter =, deadline_s = }; priority: lower is more urgent, for schedulers and gates that read it; tenant, "
      .. "program: who sends it and of what it is a part, numbers from 0; "
      .. "adapter: of the scenario's adapters, from 1, 0 for none; "
      .. "deadline_s: so long after it was sent an answer is of no use." },
  },
}

local CONTENTS = 2 ^ 48 -- ids of contents that a part may have; those of the engine end at 2^53
local most_parts = 31

local function fail(i, message, ...)
  error((i and "workload.parts[" .. i .. "]: " or "workload.parts: ") .. message:format(...), 0)
end

local known = { name = true, workload = true, priority = true, tenant = true, program = true, adapter = true,
  deadline_s = true }

--- What is wrong with who sends the requests of a part, and with their deadline.
local function check_sender(i, part)
  local deadline_s = part.deadline_s
  for _, name in ipairs { "tenant", "program", "adapter" } do
    local id = part[name]
    if id ~= nil and (type(id) ~= "number" or id % 1 ~= 0 or id < 0 or id > 1000000) then
      fail(i, "%s: expected a whole number from 0 to 1000000, found %s", name, tostring(id))
    end
  end
  if deadline_s ~= nil and not (type(deadline_s) == "number" and deadline_s > 0 and deadline_s < math.huge) then
    fail(i, "deadline_s: expected a number above 0, found %s", tostring(deadline_s))
  end
end

local function check(parts)
  if type(parts) ~= "table" or #parts == 0 or #parts > most_parts then
    fail(nil, "expected a list of 1 to %d parts, { name = \"chat\", workload = ... }", most_parts)
  end
  local names = {}
  for i, part in ipairs(parts) do
    if type(part) ~= "table" or policy.is_instance(part) then fail(i, "expected { name =, workload = }") end
    for key in pairs(part) do
      if not known[key] then
        fail(i, "unknown key '%s' (known: %s)", tostring(key), "adapter, deadline_s, name, priority, program, tenant, "
          .. "workload")
      end
    end
    if type(part.name) ~= "string" or part.name == "" then fail(i, "name: expected a text") end
    if names[part.name] then fail(i, "name: '%s' is that of part %d", part.name, names[part.name]) end
    local priority = part.priority
    if priority ~= nil and (type(priority) ~= "number" or priority % 1 ~= 0 or math.abs(priority) > 2147483647) then
      fail(i, "priority: expected a whole number, found %s", tostring(priority))
    end
    check_sender(i, part)
    names[part.name] = i
  end
end

local function shifted(part, id) return id == 0 and 0 or part.contents + id end

--- The fields of a part's request in the mix.
local function fields_of(state, part, fields)
  fields = fields or {}
  local class = fields.class or 0
  if class >= part.classes then
    error(("workload.parts[%d]: a request has class %d; the workload names %d in `classes`"):format(part.index, class,
      part.classes), 0)
  end
  fields.class = part.first_class + class
  for _, name in ipairs { "priority", "tenant", "program", "adapter", "deadline_s" } do
    if fields[name] == nil then fields[name] = part[name] end
  end
  if fields.session then fields.session = fields.session * #state.parts + part.index - 1 end
  if fields.content then
    local content = {}
    for i, segment in ipairs(fields.content) do content[i] = { shifted(part, segment[1]), segment[2] } end
    fields.content = content
  end
  if fields.output_content then fields.output_content = shifted(part, fields.output_content) end
  return fields
end

--- What the parts leave out, together.
local function count_left_out(state)
  local out = state.left_out
  out.total = 0
  for _, part in ipairs(state.parts) do
    local own = part.state.left_out
    if own then
      out.total = out.total + own.total
      for why, count in pairs(own.reasons) do out.reasons[part.name .. ": " .. why] = count end
    end
  end
end

--- Reads the next request of a part when it is needed, and not before: a conversation draws from the same streams at
--- its ends.
local function read(part)
  if part.waiting or part.is_over then return end
  local at_s, prompt, output, fields = part.state.next(part.state)
  part.waiting, part.is_over = at_s and { at_s, prompt, output, fields }, at_s == nil
end

local function next_request(state)
  local first
  for _, part in ipairs(state.parts) do
    read(part)
    if part.waiting and (not first or part.waiting[1] < first.waiting[1]) then first = part end
  end
  count_left_out(state)
  if not first then return nil end
  local sent = first.waiting
  first.waiting = nil
  return sent[1], sent[2], sent[3], fields_of(state, first, sent[4])
end

local function answered(state, now_s, session, class, completed, landed_tokens)
  local part = state.parts[state.part_of[class + 1]]
  local own = session < 0 and session or math.floor(session / #state.parts)
  local list = inner.after(part.state, now_s, own, class - part.first_class, completed, landed_tokens)
  for _, sent in ipairs(list) do sent[4] = fields_of(state, part, sent[4]) end
  state.answered = part.index
  count_left_out(state)
  return list
end

local function cancelled(state)
  local part = state.parts[state.answered]
  local session = part.state.cancels and part.state.cancels(part.state)
  return session and session * #state.parts + part.index - 1
end

--- The mix of what `of` makes of each part, as of a multiple of its load.
---@param of fun(workload: rooflua.Workload): rooflua.Workload
function Mix:scaled(of)
  local parts = {}
  for i, part in ipairs(self.parts) do
    parts[i] = { name = part.name, workload = of(part.workload), priority = part.priority,
      tenant = part.tenant, program = part.program, adapter = part.adapter, deadline_s = part.deadline_s }
  end
  return policy.with(self, { parts = parts })
end

---@param rng rooflua.Random
function Mix:requests(rng)
  check(self.parts)
  local state = { next = next_request, done = answered, parts = {}, part_of = {}, classes = {}, answered = 0,
    left_out = { source = "mix", unit = "requests", total = 0, reasons = {} } }
  for i, given in ipairs(self.parts) do
    local streams = {}
    function streams.stream(_, name, index) return rng:stream(name, (index or 0) * most_parts + i - 1) end
    local own = inner.open(given.workload, streams, ("workload.parts[%d].workload"):format(i))
    if not own.next then fail(i, "workload: requests that depend on each other (plays) cannot be part of a mix") end
    local names = own.classes or { false }
    state.parts[i] = { index = i, name = given.name, state = own, priority = given.priority,
      tenant = given.tenant, program = given.program, adapter = given.adapter, deadline_s = given.deadline_s,
      contents = (i - 1) * CONTENTS, first_class = #state.classes, classes = #names }
    for _, name in ipairs(names) do
      state.classes[#state.classes + 1] = name and given.name .. ", " .. name or given.name
      state.part_of[#state.classes] = i
    end
    if own.shares_content then state.shares_content = true end
    if own.sends_items then state.sends_items = true end
    if own.cancels then state.cancels = cancelled end
  end
  count_left_out(state)
  return state
end

return Mix
