-- Policies that make wrong calls during a run. Each call returns a value or raises an error that
-- names this file. Using a view after the call that gave it raises an error. Runs sandboxed.
local serve = require "rooflua.serve"
local policy = require "rooflua.policy"
local VllmV1 = require "schedulers.vllm_v1"
local Poisson = require "workloads.poisson"
local Flat = policy.define { name = "flat", doc = "A millisecond a step.", params = {} }
local kept, calls, bad = {}, 0, {}

local function try(name, call, ...)
  calls = calls + 1
  local ok, problem = pcall(call, ...)
  if not ok and not (type(problem) == "string" and problem:find("serve_misuse.lua:", 1, true)) then
    bad[name .. ": " .. tostring(problem)] = true
  end
end

local function wrong_values(replica, plan, request, batch)
  return { 0/0, 1/0, -1, 0, 0.5, 2^53, 1e300, "", "x", true, {}, function() end,
    coroutine.create(function() end),
    replica or {}, plan or {}, request or {}, batch or {}, kept.request or {}, kept.plan or {},
      kept.batch or {} }
end

local function misuse(what, object, methods, fields, values)
  for _, name in ipairs(methods) do
    local method = object[name]
    try(what .. "." .. name, method)
    for i = 1, #values do
      local value = values[i]
      try(what .. "." .. name .. "(x)", function() local r = method(value) return r end)
      if name ~= "wake_at" then
        try(what .. ":" .. name, function() local r = method(object, value) return r end)
        try(what .. ":" .. name .. "(2)", function() local r = method(object, value,
          values[(i * 3) % #values + 1]) return r end)
        try(what .. ":" .. name .. "(3)", function() local r = method(object, value, 1,
          values[(i * 5) % #values + 1], value, value) return r end)
      end
    end
  end
  for _, name in ipairs(fields) do try(what .. "." .. name, function() return object[name] end) end
  for _, value in ipairs(values) do
    try(what .. "[x]", function() local r = object[value] return r end)
    try(what .. ".x =", function() object[value] = 1 end)
    try(what .. " ==", function() return object == value end)
  end
end

local request_fields = { "id", "phase", "prompt_tokens", "cached_tokens", "pending_tokens",
  "context_tokens", "class", "output_tokens" }

local Wrong = policy.define { name = "wrong", doc = "Misuses everything, then schedules." ,
  params = {} }
function Wrong:plan(replica, plan)
  self.inner = self.inner or VllmV1 { max_num_seqs = 4, max_num_batched_tokens = 64 }
  self.times = (self.times or 0) + 1
  if self.times <= 3 then
    local request = replica:waiting()[1] or replica:running()[1]
    local values = wrong_values(replica, plan, request)
    misuse("replica", replica, { "waiting", "prefilling", "running" },
      { "now_s", "decodes", "nothing" }, values)
    misuse("list", replica:waiting(), {}, { "n" }, values)
    if request then misuse("request", request, {}, request_fields, values) end
    -- Calls of the plan that cannot succeed, because their arguments are not requests.
    for _, name in ipairs { "decode", "prefill", "admit", "preempt", "reject" } do
      for _, value in ipairs(values) do
        if value ~= request then
          try("plan:" .. name, function() local r = plan[name](plan, value, 1) return r end)
          try("plan." .. name, function() local r = plan[name](value, value) return r end)
        end
      end
    end
    for _, value in ipairs(values) do
      try("plan[x]", function() local r = plan[value] return r end)
      try("plan.x =", function() plan[value] = 1 end)
      if request and type(value) ~= "number" then
        try("plan:admit(request, x)", function() local r = plan:admit(request, value) return r end)
        try("plan:prefill(request, x)", function() local r = plan:prefill(request,
          value) return r end)
        try("plan:wake_at(x)", function() local r = plan:wake_at(value) return r end)
        try("plan:decode_all(x)",
          function() if value then local r = plan:decode_all(value) return r end end)
      end
    end
    kept.request, kept.plan, kept.replica, kept.list = request, plan, replica, replica:waiting()
  end
  return self.inner:plan(replica, plan)
end

function Flat:bind() end
function Flat:time(batch)
  if not kept.batch then
    misuse("batch", batch, {}, { "tokens", "prefills", "nothing" },
      wrong_values(kept.replica, kept.plan, kept.request, batch))
  end
  if not kept.batch then
    kept.batch, kept.prefills, kept.prefill = batch, batch.prefills, batch.prefills[1]
  end
  return 1e-3
end

local result = serve.run {
  model = "llama-3.1-8b", hardware = "h200-sxm", seed = 1, scheduler = Wrong {}, steps = Flat {},
  workload = Poisson { rate_per_s = 1000, num_requests = 40, prompt_tokens = 50,
    output_tokens = 20 },
}
assert(result.summary.completed == 40, "the run went on as if nothing had been tried")

-- The run is over: all views that were kept are stale.
local stale = {
  function() return kept.request.id end, function() return kept.request.phase end,
  function() return kept.plan.tokens end, function() return kept.plan:decode_all() end,
  function() return kept.plan:preempt(kept.request) end, function() return kept.replica.now_s end,
  function() return kept.replica:waiting() end, function() return #kept.list end,
    function() return kept.list[1] end,
  function() return kept.batch.tokens end, function() return #kept.prefills end,
    function() return kept.prefill.new_tokens end,
}
for i, use in ipairs(stale) do
  local ok, problem = pcall(function() local r = use() return r end)
  if ok then bad["stale view " .. i .. " still answers"] = true end
  if not ok and not tostring(problem):find("serve_misuse.lua:", 1, true) then
    bad["stale view " .. i .. ": " .. tostring(problem)] = true
  end
end

-- Policies that return nonsense, raise, or never schedule.
local function run_with(changes)
  local scenario = { model = "llama-3.1-8b", hardware = "h200-sxm", scheduler = VllmV1 {},
    steps = Flat {},
    workload = Poisson { rate_per_s = 1000, num_requests = 3, prompt_tokens = 50,
      output_tokens = 20 } }
  for key, value in pairs(changes) do scenario[key] = value end
  local ok, problem = pcall(function() local r = serve.run(scenario) return r end)
  return ok and "ran" or tostring(problem)
end
local function scheduler(body)
  local Class = policy.define { name = "inline", doc = "Inline.", params = {} }
  Class.plan = body
  return Class {}
end
local function steps(body)
  local Class = policy.define { name = "inline", doc = "Inline.", params = {} }
  Class.time = body
  return Class {}
end
for name, changes in pairs {
  raises = { scheduler = scheduler(function() error "mine" end) },
  raises_table = { scheduler = scheduler(function() error {} end) },
  admits_twice = { scheduler = scheduler(function(_, replica,
    plan) local r = replica:waiting()[1] plan:admit(r, 1) plan:admit(r, 1) plan:admit(r,
    1e9) end) },
  nan_steps = { steps = steps(function() return 0/0 end) },
  nil_steps = { steps = steps(function() end) },
  negative_steps = { steps = steps(function() return -1 end) },
  endless_steps = { steps = steps(function() return 1e300 end) },
  raising_steps = { steps = steps(function() error "mine" end) },
  no_model = { model = 3 }, no_workload = { workload = 3 }, no_replicas = { replicas = -1 },
    nan_replicas = { replicas = 0/0 },
} do
  local outcome = run_with(changes)
  if outcome == "ran" and name ~= "admits_twice" then bad[name .. ": ran"] = true end
  calls = calls + 1
end

local messages = {}
for message in pairs(bad) do messages[#messages + 1] = message end
table.sort(messages)
for i = 1, math.min(#messages, 60) do print(messages[i]) end
print(calls .. " calls, " .. #messages .. " badly")
if #messages > 0 then error("misuse found bad messages", 0) end
return calls
