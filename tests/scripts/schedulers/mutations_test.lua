-- Every rule of every scheduler is needed: with the rule taken out of the script, a schedule in its test
-- changes. Each row is a rule, the line that makes it, and what stands there without it.
local test = dofile "tests/scripts/harness.lua"

local mutations = {
  vllm_v1 = {
    { "running before waiting",
      "  self:run_running(replica, plan)\n  if plan.preempted == 0 then self:admit_waiting(replica, plan) end",
      "  self:admit_waiting(replica, plan)\n  self:run_running(replica, plan)" },
    { "a preemption stops admission", "if plan.preempted == 0 then self:admit", "if true then self:admit" },
    { "the budget ends admission", "plan.tokens < budget and replica.seats <", "replica.seats <" },
    { "the budget cuts chunks", "      tokens = left\n", "" },
    { "the budget cuts running prompts",
      "math.min(self:chunk(request.pending_tokens), self.max_num_batched_tokens - plan.tokens)",
      "self:chunk(request.pending_tokens)" },
    { "long_prefill_token_threshold", "then return threshold end", "then end" },
    { "chunked prefill may be off", "if not self.enable_chunked_prefill then return end", "" },
    { "decodes between prompts run one by one",
      "unfinished > 1 or running[#running] ~= prefilling[1] or self.victim",
      "false" },
    { "seats", "replica.seats < self.max_num_seqs", "true" },
    { "full-sequence admission", "self.scheduler_reserve_full_isl and request.sequence_tokens or 0", "0" },
    { "full-sequence admission may be off", "self.scheduler_reserve_full_isl and request", "request" },
    { "the head blocks the queue",
      "if not plan:admit(request, tokens, 0, must_fit, keep_free) then return end",
      "if not plan:admit(request, tokens, 0, must_fit, keep_free) then\nfor i = 2, #waiting do "
        .. "plan:admit(waiting[i], waiting[i].pending_tokens) end return end" },
    { "the watermark", "if replica.seats > 0 then keep_free", "if false then keep_free" },
    { "the watermark only while others run", "if replica.seats > 0 then keep_free", "if true then keep_free" },
    { "a prompt takes blocks from the tail",
      "if not plan:preempt(victim) or gone then return false end",
      "return false" },
  },
  priority = {
    { "the queue is ordered by priority", "return request.priority\n", "return 0\n" },
    { "the victim has the highest priority value", "candidate.priority > worst.priority", "false" },
    { "ties of the victim by arrival", "candidate.arrival_s > worst.arrival_s", "false" },
  },
  sjf = {
    { "the queue is ordered by work", "return request.prompt_tokens + self", "return 0 * self" },
    { "predictions count", "request.predicted_output_tokens or self", "self" },
    { "output_weight", "self.output_weight * output", "output" },
    { "unknown_output_tokens", "or self.unknown_output_tokens", "or 0" },
  },
  vllm_v0 = {
    { "prompts before decodes", "  if plan.tokens > 0 then return end\n", "" },
    { "the token budget", "plan.tokens + tokens > self.max_num_batched_tokens\n", "false\n" },
    { "a prompt above the budget is rejected", "tokens > self.max_num_batched_tokens or blocks", "blocks" },
    { "seats", "replica.seats < self.max_num_seqs", "true" },
    { "the watermark", "plan:admit(request, tokens, 0, 0, keep_free)", "plan:admit(request, tokens)" },
    { "what the watermark never allows is rejected", "or blocks + keep_free > replica.total_blocks", "" },
    { "a decode waits for a free block", "if replica.free_blocks > replica.decode_blocks then", "if true then" },
    { "a free block when its turn comes",
      "replica.free_blocks > replica.decode_blocks",
      "replica.free_blocks >= replica.decode_blocks" },
    { "the latest is preempted",
      "plan:preempt(queue[last])\n      last = last - 1",
      "plan:preempt(queue[first])\n      first = first + 1" },
  },
  orca = {
    { "decodes in every step",
      "  plan:decode_all()\n",
      "  if replica:waiting()[1] == nil then plan:decode_all() end\n" },
    { "a preemption stops admission", "  if plan.preempted > 0 then return end\n", "" },
    { "blocks for the limit", "request.pending_tokens, longest", "request.pending_tokens" },
    { "max_output_tokens", "or self.max_output_tokens)", "or 1)" },
    { "seats", "replica.seats < self.max_num_seqs", "true" },
    { "the first that does not fit blocks the queue",
      "    elseif not plan:admit(request, request.pending_tokens, longest) then\n      return\n",
      "    elseif not plan:admit(request, request.pending_tokens, longest) then\n      for i = 2, #waiting "
        .. "do plan:admit(waiting[i], waiting[i].pending_tokens) end\n      return\n" },
    { "what never fits is rejected", "if longest > most then", "if false then" },
  },
  static_batch = {
    { "the batch lasts",
      "  if replica.seats > 0 then\n    plan:decode_all()\n    return\n  end",
      "  plan:decode_all()" },
    { "blocks for the limit", "request.pending_tokens, longest", "request.pending_tokens" },
    { "max_output_tokens", "or self.max_output_tokens)", "or 1)" },
    { "batch size", "replica.seats < self.max_num_seqs", "true" },
    { "what never fits is rejected", "if longest > most then", "if false then" },
  },
  sarathi = {
    { "decodes before prompts",
      "  plan:decode_all()\n  self:continue_prefills(replica, plan)\n",
      "  self:continue_prefills(replica, plan)\n  plan:decode_all()\n" },
    { "unfinished prompts before new ones",
      "  self:continue_prefills(replica, plan)\n  if plan.preempted == 0 then self:admit_waiting(replica, "
        .. "plan) end\n",
      "  if plan.preempted == 0 then self:admit_waiting(replica, plan) end\n  local n = "
        .. "#replica:prefilling() - plan.admitted\n  for i = 1, n do local r = replica:prefilling()[i] local t "
        .. "= self:chunk(r, 0, plan) if t > 0 then plan:prefill(r, t) end end\n" },
    { "the budget", "self:budget(context_tokens) - plan.tokens", "self:budget(context_tokens)" },
    { "the whole prompt is held",
      "tokens, request.sequence_tokens, 0, keep_free",
      "tokens, 0, request.sequence_tokens, keep_free" },
    { "the whole prompt must fit", "tokens, request.sequence_tokens, 0, keep_free", "tokens, 0, 0, keep_free" },
    { "the watermark", "0, keep_free) then return", "0, 0) then return" },
    { "seats", "replica.seats < self.max_num_seqs", "true" },
    { "the chunk falls with progress", "if not self.enable_dynamic_chunking_schedule then", "if true then" },
    { "multiples of 32", "return math.floor(size / unit + 0.5) * unit", "return size" },
    { "the last stage lasts", "  stage = math.min(stage, stages - 1)\n", "" },
  },
  sglang = {
    { "prefill first",
      "  self:prefill_first(replica, plan)\n",
      "  if replica.decodes == 0 then self:prefill_first(replica, plan) end\n" },
    { "no mixing", "if self.enable_mixed_chunk then", "if true then" },
    { "mixing", "if self.enable_mixed_chunk then", "if false then" },
    { "a full batch stays full", "(self.full or #waiting == 0) and not chunked", "#waiting == 0 and not chunked" },
    { "a batch that shrank is not full", "then self.full = false end", "then end" },
    { "a request must fit", "if pages + spoken_for > replica.free_tokens then", "if false then" },
    { "its own limit counts",
      "local spoken_for = budgets.reserved + still + page",
      "local spoken_for = budgets.reserved + page" },
    { "one page more",
      "local spoken_for = budgets.reserved + still + page",
      "local spoken_for = budgets.reserved + still" },
    { "running ones reserve", "reserved = reserved * ratio +", "reserved = 0 +" },
    { "by the ratio", "reserved = reserved * ratio +", "reserved = reserved +" },
    { "admitted ones reserve everything", "budgets.reserved = budgets.reserved + reserve\n", "" },
    { "conservativeness",
      "self.init_new_token_ratio * self.schedule_conservativeness",
      "self.init_new_token_ratio" },
    { "the ratio decays", "self.base - decay *", "self.base - 0 *" },
    { "the ratio has a minimum", "return math.max(last, self.base", "return math.max(0, self.base" },
    { "idle resets the ratio", "if idle or not self.base then", "if not self.base then" },
    { "chunks", "if pages > budgets.chunk then", "if false then" },
    { "the cut prompt goes first",
      "if chunked and not self:continue_chunked(chunked, ordered, budgets, replica, plan) then return end",
      "if chunked and #waiting == 0 and not self:continue_chunked(chunked, ordered, budgets, replica, plan) then "
        .. "return end" },
    { "the step's chunk is shared", "budgets.chunk - pages\n", "budgets.chunk\n" },
    { "lengths in pages", "return math.ceil(tokens / page) * page", "return tokens" },
    { "cuts in pages", "math.floor(budgets.chunk / page) * page", "budgets.chunk" },
    { "max_prefill_tokens", "if pages >= budgets.input and budgets.taken > 0 then return false end", "" },
    { "a single prompt may pass max_prefill_tokens",
      "pages >= budgets.input and budgets.taken > 0",
      "pages >= budgets.input" },
    { "max_prefill_tokens does not fill the batch",
      "and budgets.taken > 0 then return false end",
      "and budgets.taken > 0 then self.full = true return false end" },
    { "seats", "if others + budgets.taken >= self.max_num_seqs then", "if false then" },
    { "retraction", "plan:preempt(to_retract(replica))", "break" },
    { "fewest generated first", "if less < 0 or (less == 0 and", "if not worst or (" },
    { "longest prompt among them", "request.prompt_tokens >= worst.prompt_tokens", "false" },
    { "the ratio after a retraction",
      "self:set_ratio(math.min(1, ahead / (limits + 1)), replica.decode_steps)",
      "" },
    { "steps ahead", "generated + self.retract_decode_steps * replica.decodes", "generated" },
    { "decodes count in the mixed chunk",
      "chunk = self.chunked_prefill_size - mixed,",
      "chunk = self.chunked_prefill_size," },
    { "decodes are reserved for in a mixed step", "+ mixed_blocks * replica.block_size", "" },
    { "mixed steps do not decay", "  self.since = self.since + 1\n", "" },
    { "hrrn counts what was computed", "self.computed = self.computed + plan.tokens", "" },
    { "one unfinished prompt", "if budgets.cut then return false end", "" },
    { "the estimate is clipped", "math.max(0, math.min(left, self.clip_max_new_tokens))", "math.max(0, left)" },
    { "default_max_new_tokens", "or self.default_max_new_tokens", "or 1" },
  },
  ["sglang/order"] = {
    { "lof", "return -scheduler:max_new_tokens(request)", "return 0" },
    { "random", "return scrambled(scheduler.random_seed, request.id, now_s)", "return 0" },
    { "lpm", "return -request.cached_tokens", "return 0" },
    { "the in-batch prefix rule", "if seen[prefix] then entry.rank = math.huge end", "" },
    { "the in-batch prefix rule of lpm", "local one_of_a_prefix = { lpm = true,", "local one_of_a_prefix = {" },
    { "the in-batch prefix rule of hrrn", "lpm = true, hrrn = true, [", "lpm = true, [" },
    { "the in-batch prefix rule of shortest-prefill-first",
      'local one_of_a_prefix = { lpm = true, hrrn = true, ["shortest-prefill-first"] = true }',
      "local one_of_a_prefix = { lpm = true, hrrn = true }" },
    { "lpm only while few wait", "local gives_up = { lpm = true,", "local gives_up = {" },
    { "hrrn only while few wait", "local gives_up = { lpm = true, hrrn = true }", "local gives_up = { lpm = true }" },
    { "no order by a cache that is off", "(reads_cache[policy] and not replica.prefix_caching)", "false" },
    { "shortest-prefill-first needs the cache", "and not replica.prefix_caching then", "and false then" },
    { "dfs-weight", 'if policy == "dfs-weight" then return', "if false then return" },
    { "the heaviest branch first", "if more ~= 0 then return more > 0 end", "" },
    { "children before their node", "if a.hit ~= b.hit then return a.hit > b.hit end\n    return", "return" },
    { "the root last", "if a.hit ~= b.hit then return b.hit == 0 end", "" },
    { "hrrn by what is to compute",
      "(scheduler.came[request.id] - scheduler.computed) / request.pending_tokens",
      "(scheduler.came[request.id] - scheduler.computed)" },
    { "hrrn by what was computed since it came", "(scheduler.came[request.id] - scheduler.computed)",
      "(0 - scheduler.computed)" },
    { "who came stays so", "scheduler.came and scheduler.came[id] or scheduler.computed", "scheduler.computed" },
    { "who comes back has just come", "local came = {}", "local came = scheduler.came or {}" },
    { "the shortest prefill", "function(_, request) return request.pending_tokens end", "function() return 0 end" },
    { "what is cached is no work",
      "function(_, request) return request.pending_tokens end",
      "function(_, request) return request.prompt_tokens end" },
    { "room for shorter prompts", 'if scheduler.schedule_policy ~= "shortest-prefill-first" or', "if true or" },
    { "of shorter ones only", "tokens >= rest or ", "" },
    { "a page stays with the cut prompt", "budget - page then break", "budget then break" },
    { "in pages", "math.floor((budget - kept) / page) * page", "1" },
    { "routing-key", "entry.rank = -(count[entry.key] or 0)", "entry.rank = 0" },
    { "the key of most", "(count[key] or 0) + 1, true", "1, true" },
    { "no key stands before others", "or -math.huge", "or math.huge" },
    { "by key", "if a.key ~= b.key then return a.key < b.key end\n", "" },
    { "as they came while nobody runs", "if not any then return nil end", "" },
    { "the cut prompt does not run", "running[i] ~= chunked and", "" },
    { "what is a key", "request[scheduler.routing_key]", "request.session" },
    { "a private prompt has no key", 'if key == 0 and scheduler.routing_key == "prefix" then return nil end', "" },
  },
  trtllm = {
    { "blocks to completion",
      'if self.capacity_scheduler_policy == "max_utilization" then return request.sequence_tokens end\n  '
        .. 'return self:longest(request)',
      "return request.sequence_tokens" },
    { "running ones are guaranteed theirs",
      'function Trtllm:reserved_blocks(replica)\n',
      "function Trtllm:reserved_blocks(replica)\n  if true then return 0 end\n" },
    { "what they hold is not reserved twice",
      "blocks + self:blocks_beyond(request, request.context_tokens, size)",
      "blocks + self:blocks_beyond(request, 0, size)" },
    { "prompts on their way are guaranteed theirs",
      "blocks = blocks + self:blocks_beyond(request, request.sequence_tokens, size)",
      "" },
    { "what decodes take now is not reserved twice", "reserved - (free - replica.free_blocks)", "reserved" },
    { "stop at the first that does not fit", "    if free < 0 then return end\n", "" },
    { "max_output_tokens", "or self.max_output_tokens)", "or 1)" },
    { "max_utilization",
      'if self.capacity_scheduler_policy == "max_utilization" then return request.sequence_tokens end',
      "" },
    { "the whole prompt is held", "plan:admit(request, tokens, prompt, fit", "plan:admit(request, tokens, 0, fit" },
    { "static batches",
      'if self.capacity_scheduler_policy == "static_batch" and replica.seats > 0 then return end',
      "" },
    { "whole prompts within the budget", "if each.pending > budget then return end", "" },
    { "the first too long one ends the step",
      "if each.pending > budget then return end",
      "if each.pending > budget then each.pending = 0 end" },
    { "decodes count", "local budget = most - plan.tokens", "local budget = most" },
    { "too long is rejected", "and request.pending_tokens > self.max_num_batched_tokens", "and false" },
    { "too big is rejected", "self:fit_tokens(request) <= most then return", "true then return" },
    { "seats", "math.min(#waiting, self.max_num_seqs - replica.seats)", "#waiting" },
    { "chunks in whole units", "if tokens < each.pending then tokens = math.floor(tokens / unit) * unit end", "" },
    { "equal progress",
      "return equal_progress(contexts, budget, unit)",
      "return first_come_first_served(contexts, budget, unit)" },
    { "equal progress by units", "math.min(unit, each.pending - each.tokens)", "each.pending - each.tokens" },
    { "chunk_unit_size", "self.chunk_unit_size > 0 and self.chunk_unit_size", "false" },
  },
}

--- Replaces the one place where `from` stands.
local function replaced(source, from, to)
  local first, last = source:find(from, 1, true)
  assert(first, "the rule's line is not in the script: " .. from)
  assert(not source:find(from, last + 1, true), "stands twice in the script: " .. from)
  return source:sub(1, first - 1) .. to .. source:sub(last + 1)
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

--- The tests of each script; by default the one of its name.
local tests = { sglang = { "sglang", "sglang_order" }, ["sglang/order"] = { "sglang_order" } }

--- One test, run with another script in the place of the one it tests. True if it failed.
local function one_fails_with(name, source, tested)
  local chunk = assert(loadstring(source, "=mutated " .. name))
  local module = "schedulers." .. name:gsub("/", ".")
  for loaded in pairs(package.loaded) do
    if loaded:find "^schedulers%." then package.loaded[loaded] = nil end
  end
  package.preload[module] = chunk
  local exit, print_line, status = os.exit, print, nil
  os.exit = function(code)
    status = code
    error({ message = "over" }, 0)
  end
  print = function() end
  pcall(dofile, "tests/scripts/schedulers/" .. tested .. "_test.lua")
  os.exit, print = exit, print_line
  package.preload[module] = nil
  return status ~= 0
end

local function fails_with(name, source)
  for _, tested in ipairs(tests[name] or { name }) do
    if one_fails_with(name, source, tested) then return true end
  end
  return false
end

local names = {}
for name in pairs(mutations) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local rules = mutations[name]
  local source = read("scripts/schedulers/" .. name .. ".lua")
  test("the schedules of " .. name .. " pass with the script as it is", function()
    test.check(not fails_with(name, source), "they fail")
  end)
  for _, rule in ipairs(rules) do
    test(("%s: without '%s' a schedule changes"):format(name, rule[1]), function()
      test.check(fails_with(name, replaced(source, rule[2], rule[3])), "all pass")
    end)
  end
end

test.finish()
