-- What policies of tiers load and store, and in which order evictions let content go. What the engine shows them are
-- tables made by hand.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local rooflua = require "rooflua"

local stores = { { name = "cpu", per = "replica" }, { name = "ssd", per = "node" } }

local function of(name, parameters)
  local own = policy.fresh(require("tiers." .. name)(parameters or {}))
  if own.bind then own:bind { stores = stores } end
  return own
end

--- Sources {name, tokens, wait_s, peer} after `gpu` tokens of a prompt; a token takes 100 us to compute.
local function found(given, sources)
  local out = { gpu_tokens = given.gpu or 0, prompt_tokens = given.prompt or 10000, pending_tokens = given.pending or 0,
    chunk_tokens = given.chunk or 16,
    waiting = given.waiting or 0, tokens = 0, compute_s = function(_, tokens) return 1e-4 * tokens end }
  for i, each in ipairs(sources) do
    out[i] = { name = each[1], tokens = each[2], bytes = 1000 * each[2], wait_s = each[3] or 0,
      peer = each[4] or false }
    out.tokens = out.tokens + each[2]
  end
  return out
end

local function run(given)
  local out = { why = "filled", prompt = true, uses = 0, first_token = 0, last_token = 16, bytes = 1 }
  for key, value in pairs(given or {}) do out[key] = value end
  return out
end

local function names(...) return table.concat({ ... }, " ") end

test("vllm_cpu loads every hit and waits for what is arriving", function()
  local own = of "vllm_cpu"
  test.equal(own:load({}, found({}, { { "cpu", 320 }, { "ssd", 160 } })), 480)
  test.equal(own:load({}, found({}, {})), 0)
  test.equal(own:load({}, found({ pending = 16 }, { { "cpu", 320 } })), nil)
  test.equal(of("vllm_cpu", { waits_for_pending = false }):load({}, found({ pending = 16 }, { { "cpu", 320 } })), 320)
end)

test("vllm_cpu computes less than a chunk, and waits for none then", function()
  local own = of "vllm_cpu"
  test.equal(own:load({}, found({ chunk = 256 }, { { "cpu", 255 } })), 0)
  test.equal(own:load({}, found({ chunk = 256 }, { { "cpu", 256 } })), 256)
  test.equal(own:load({}, found({ chunk = 256, pending = 100 }, { { "cpu", 155 } })), 0)
  test.equal(own:load({}, found({ chunk = 256, pending = 256 }, { { "cpu", 155 } })), nil)
  local drops = of("vllm_cpu", { drops_last_chunk = true })
  test.equal(drops:load({}, found({ chunk = 256 }, { { "cpu", 768 } })), 512)
  test.equal(drops:load({}, found({ chunk = 256 }, { { "cpu", 256 } })), 0)
end)

test("trtllm_host loads every hit, and stores prompts and answers", function()
  local own = of "trtllm_host"
  test.equal(own:load({}, found({ pending = 16 }, { { "cpu", 8 } })), 8)
  test.equal(names(own:store(run { prompt = true }, stores)), "cpu")
  test.equal(names(own:store(run { prompt = false, why = "ended" }, stores)), "cpu")
  test.equal(names(own:store(run { prompt = false, why = "preempted" }, stores)), "")
  test.equal(names(of("trtllm_host", { outputs = false }):store(run { prompt = false, why = "ended" }, stores)), "")
end)

test("vllm_cpu stores prompts in the first store, and answers where that is said", function()
  local own = of "vllm_cpu"
  test.equal(names(own:store(run(), stores)), "cpu")
  test.equal(names(own:store(run { prompt = false, why = "ended" }, stores)), "")
  test.equal(names(own:store(run { why = "preempted" }, stores)), "")
  test.equal(names(of("vllm_cpu", { outputs = true }):store(run { prompt = false, why = "ended" }, stores)), "cpu")
  test.equal(own:counts(), false)
end)

test("a threshold of n stores content of the n-th request that has it", function()
  local own = of("vllm_cpu", { store_threshold = 3 })
  test.equal(own:counts(), true)
  local stored = {}
  for uses = 1, 4 do stored[#stored + 1] = names(own:store(run { uses = uses }, stores)) end
  test.equal(table.concat(stored, ","), ",,cpu,cpu")
end)

test("vllm_tiered stores in every store at once, and refuses a threshold", function()
  local own = of "vllm_tiered"
  test.equal(names(own:store(run(), stores)), "cpu ssd")
  test.equal(own:load({}, found({}, { { "cpu", 320 }, { "ssd", 160 } })), 480)
  test.equal(own.promote, true)
  test.raises("store_threshold", function() of("vllm_tiered", { store_threshold = 2 }) end)
end)

test("HiCache reads storage only for enough tokens, and does not load a few", function()
  local own = of "hicache"
  local function load(sources) return own:load({}, found({}, sources)) end
  test.equal(load { { "cpu", 9 } }, 0)
  test.equal(load { { "cpu", 10 } }, 10)
  test.equal(load { { "cpu", 512 }, { "ssd", 255 } }, 512)
  test.equal(load { { "cpu", 512 }, { "ssd", 256 } }, 768)
  test.equal(load { { "ssd", 255 } }, 0)
  test.equal(load { { "ssd", 200 }, { "cpu", 56 } }, 256)
  test.equal(own.overlap, "layers")
  test.equal(own.prefetch, true)
end)

test("HiCache waits for storage as its policy says, and for the host to the end", function()
  local both, host = found({}, { { "cpu", 512 }, { "ssd", 2048 } }), found({}, { { "cpu", 512 } })
  local function patience(prefetch_policy, given)
    return (select(2, of("hicache", { prefetch_policy = prefetch_policy }):load({}, given)))
  end
  test.equal(patience("best_effort", both), 0)
  test.equal(patience("wait_complete", both), math.huge)
  test.equal(patience("timeout", both), 1.5)
  test.equal(patience("best_effort", host), math.huge)
end)

test("HiCache writes through, or only what several requests had", function()
  test.equal(names(of "hicache":store(run(), stores)), "cpu ssd")
  local selective = of("hicache", { write_policy = "write_through_selective" })
  test.equal(selective:counts(), true)
  test.equal(names(selective:store(run { uses = 1 }, stores)), "")
  test.equal(names(selective:store(run { uses = 2 }, stores)), "cpu ssd")
end)

test("HiCache writes back what leaves the GPU, to the host alone", function()
  local function context(...)
    local out = {}
    for i, name in ipairs { ... } do out[i] = { name = name } end
    return { stores = out }
  end
  local back = policy.fresh(require "tiers.hicache" { write_policy = "write_back" })
  back:bind(context "cpu")
  test.equal(back:write_back(), true)
  for _, why in ipairs { "filled", "ended", "preempted" } do
    test.equal(names(back:store(run { why = why }, stores)), "")
  end
  test.equal(names(back:store(run { why = "evicted" }, stores)), "cpu")
  test.equal(of "hicache":write_back(), false)
  test.raises("nothing would come into 'ssd'", function() back:bind(context("cpu", "ssd")) end)
end)

test("LMCache waits for at most ten seconds, and has chunks of its own", function()
  local own = of "lmcache"
  local tokens, patience_s = own:load({}, found({}, { { "cpu", 512 } }))
  test.equal(tokens, 512)
  test.equal(patience_s, 10)
  test.equal(own.chunk_tokens, 256)
  test.equal(of("lmcache", { min_retrieve_tokens = 513 }):load({}, found({}, { { "cpu", 512 } })), 0)
  test.equal(names(own:store(run { prompt = false, why = "ended" }, stores)), "")
  test.equal(names(own:store(run(), stores)), "cpu ssd")
end)

test("break_even loads what is quicker than computing it", function()
  local own = of "break_even" -- 1000 tokens take 100 ms to compute
  test.equal(own:load({}, found({}, { { "cpu", 1000, 0.099 } })), 1000)
  test.equal(own:load({}, found({}, { { "cpu", 1000, 0.101 } })), 0)
  test.equal(of("break_even", { margin_s = 0.002 }):load({}, found({}, { { "cpu", 1000, 0.099 } })), 0)
end)

test("break_even leaves out the sources behind which nothing is gained", function()
  local own = of "break_even"
  test.equal(own:load({}, found({}, { { "cpu", 1000, 0.01 }, { "ssd", 1000, 0.2 } })), 1000)
  test.equal(own:load({}, found({}, { { "cpu", 1000, 0.01 }, { "ssd", 1000, 0.1 } })), 2000)
  test.equal(own:load({}, found({}, { { "ssd", 100, 0.2 }, { "cpu", 5000, 0.02 } })), 5100)
end)

test("a load that is slower than computing pays where other requests wait for the GPU", function()
  local slow = { { "ssd", 1000, 0.25 } }
  test.equal(of "break_even":load({}, found({ waiting = 1 }, slow)), 0)
  test.equal(of "break_even":load({}, found({ waiting = 2 }, slow)), 1000)
  test.equal(of("break_even", { gpu_weight = 2 }):load({}, found({ waiting = 9 }, slow)), 0)
end)

test("content of peers is pulled where it adds enough", function()
  local own = of "peer"
  test.equal(own:load({}, found({}, { { "cpu", 512 }, { "cpu", 2048, 0, true } })), 2560)
  test.equal(own:load({}, found({}, { { "cpu", 512 }, { "cpu", 2047, 0, true } })), 512)
  test.equal(own:load({}, found({}, { { "cpu", 1024, 0, true }, { "cpu", 1024 } })), 2048)
  test.equal(own:load({}, found({}, { { "cpu", 1024, 0, true } })), 0)
  test.equal(of("peer", { min_tokens = 0 }):load({}, found({}, { { "cpu", 16, 0, true } })), 16)
  test.equal(own:load({}, found({ pending = 16 }, { { "cpu", 512 } })), nil)
  test.equal(names(own:store(run(), stores)), "cpu")
end)

-- Evictions --------------------------------------------------------------------------------------------------------

local function eviction(name, parameters)
  local own = policy.fresh(require("eviction." .. name)(parameters or {}))
  if own.bind then own:bind { stores = stores } end
  return own
end

--- Names of blocks in the order in which they leave. Keys are asked in the order of the list, as the engine asks them.
local function order(own, blocks)
  local keys, out = {}, {}
  for i, each in ipairs(blocks) do
    local block = { depth_tokens = 16, bytes = 1, uses = 0, put_s = 0, used_s = 0, class = 0, priority = 0, now_s = 0 }
    for key, value in pairs(each) do block[key] = value end
    keys[each.name], out[i] = own:key(block), each.name
    test.check(keys[each.name] - keys[each.name] == 0, "%s is no finite number", each.name)
  end
  table.sort(out, function(a, b) return keys[a] < keys[b] end)
  return table.concat(out, " ")
end

test("orders of the engine have its name and no key", function()
  for _, name in ipairs { "lru", "fifo", "lfu", "arc" } do
    local own = eviction(name)
    test.equal(own.native, name)
    test.equal(own.key, nil)
  end
end)

test("with times to live what expires first leaves first", function()
  local blocks = { { name = "old", used_s = 0, put_s = 0, class = 1 }, { name = "new", used_s = 100, put_s = 1 },
    { name = "newer", used_s = 200, put_s = 2 } }
  test.equal(order(eviction "ttl", blocks), "old new newer")
  test.equal(order(eviction("ttl", { ttl_s = 60, class_ttl_s = { [1] = 200 } }), blocks), "new old newer")
  test.equal(order(eviction("ttl", { from = "put", ttl_s = 60, class_ttl_s = { [1] = 60.5 } }), blocks),
    "old new newer")
  test.raises("ttl.class_ttl_s", function() eviction("ttl", { class_ttl_s = { chat = 60 } }) end)
end)

test("whole sessions leave, the one that was active longest ago first and its deepest content first", function()
  test.equal(order(eviction "session", {
    { name = "a1", session = 1, depth_tokens = 16, now_s = 10 },
    { name = "a2", session = 1, depth_tokens = 32, now_s = 10 },
    { name = "b1", session = 2, depth_tokens = 16, now_s = 20 }, { name = "none", now_s = 30, used_s = 30 },
  }), "none a2 a1 b1")
  local own = eviction "session"
  order(own, { { name = "a", session = 1, now_s = 50 } })
  test.equal(order(own, { { name = "late", session = 1, now_s = 40 }, { name = "b", session = 2, now_s = 45 } }),
    "b late")
end)

test("the deepest content leaves first, and of one depth the oldest", function()
  test.equal(order(eviction "depth", { { name = "front", depth_tokens = 16, used_s = 0 },
    { name = "deep", depth_tokens = 4096, used_s = 9e6 }, { name = "less", depth_tokens = 4080, used_s = 0 },
    { name = "deep_old", depth_tokens = 4096, used_s = 5 } }), "deep_old deep less front")
end)

test("beginnings that several requests had are pinned", function()
  local blocks = { { name = "system", depth_tokens = 1024, uses = 2, used_s = 0 },
    { name = "own", depth_tokens = 512, uses = 1, used_s = 5 },
    { name = "deep", depth_tokens = 1040, uses = 9, used_s = 9 } }
  test.equal(order(eviction "pinned", blocks), "own deep system")
  test.equal(order(eviction("pinned", { tokens = 16 }), blocks), "system own deep")
  test.equal(order(eviction("pinned", { uses = 3 }), blocks), "system own deep")
end)

test("every policy of tiers and eviction has its methods, and every number a source", function()
  local seen = 0
  for _, folder in ipairs { "tiers", "eviction" } do
    for _, about in ipairs(rooflua.list(folder)) do
      local class = require(about.module)
      seen = seen + 1
      if folder == "tiers" then test.check(class.load and class.store, "%s", about.module) end
      if folder == "eviction" then test.check((class.key ~= nil) ~= (class.native ~= nil), "%s", about.module) end
      test.check(about.source, "%s has no source", about.module)
      for name, declared in pairs(about.params) do
        test.check(declared.source, "%s.%s has no source", about.module, name)
        test.check(type(declared.default) ~= "number" or declared.unit, "%s.%s has no unit", about.module, name)
      end
    end
  end
  test.equal(seen, 15)
end)

test.finish()
