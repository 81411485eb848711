--- Users that read an answer before they ask again: the requests of another workload, sent by a fixed number of them.
local clients = require "workloads.composed.clients"
local inner = require "workloads.composed.inner"
local policy = require "rooflua.policy"

---@class workloads.Users: rooflua.Workload
---@field of rooflua.Workload
---@field num_requests integer
local Users = policy.define {
  name = "users",
  doc = "The requests of another workload, in its order, sent by users who each wait for the answer and think.",
  params = clients.parameters({ default = 10.0, unit = "s", min = 0,
    doc = "Mean pause between an answer and the next request, exponential; 0 = none." }, {
    of = { default = false, type = "any", doc = "The workload whose requests are sent; its times are not read." },
    num_requests = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "Requests of all users together; 0 = as many as the workload has." },
  }),
}

--- The workload with so many requests that it sends by itself: a closed loop has as many clients.
local function with_count(workload, count)
  if type(workload.scaled) == "function" then
    return workload:scaled(function(part) return with_count(part, count) end)
  end
  local parameters, changes = policy.parameters(workload), {}
  for _, name in ipairs { "num_requests", "num_prompts" } do
    if parameters[name] ~= nil then changes[name] = count end
  end
  if parameters.start_rate_per_s then changes.clients = count end
  if parameters.num_prompts and parameters.max_concurrency then changes.max_concurrency = 0 end
  return policy.with(workload, changes)
end

--- Refuses a workload whose requests follow answers, and so have users of their own.
local function check(workload, rng)
  if policy.is_instance(workload) and type(workload.scaled) == "function" then
    workload:scaled(function(part)
      check(part, rng)
      return part
    end)
    return
  end
  local state = inner.open(workload, rng, "workload.of")
  local parameters = policy.parameters(workload)
  local is_loop = parameters.start_rate_per_s or parameters.max_concurrency
  if not state.next or state.done and not is_loop then
    error(("workload.of: requests of %s follow answers: it has users of its own"):format(workload.name), 0)
  end
end

--- How many requests a workload has; 0: it does not say.
local function count_of(workload)
  if not policy.is_instance(workload) then return 0 end
  local parameters = policy.parameters(workload)
  return parameters.num_requests or parameters.num_prompts or 0
end

local function take(state)
  local at_s, prompt, output, fields = state.of.next(state.of)
  if at_s then return prompt, output, fields end
end

---@param rng rooflua.Random
function Users:requests(rng)
  local of, count = self.of, self.num_requests > 0 and self.num_requests or count_of(self.of)
  check(of, rng)
  local own = inner.open(count > 0 and with_count(of, count) or of, rng, "workload.of")
  local thinks = policy.is_given(self, "think_time_s") and "" or ", not stated"
  return clients.open(self, rng, { take = take, of = own, count = count > 0 and count or math.huge,
    classes = own.classes, shares_content = own.shares_content, sends_items = own.sends_items,
    notes = { ("%d users send the requests of %s, in place of its arrivals; mean think time %g s, exponential%s")
      :format(self.clients, of.name, self.think_time_s, thinks) } })
end

return Users
