-- A scenario that says which engine runs it: what follows, what the scenario's own keys win, and what is refused.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local application = require "rooflua.applied.application"
local Reader = require "rooflua.scenario.reader"
local json = require "rooflua.json"
local policy = require "rooflua.policy"
local serve = rooflua.serve
local VllmV1 = require "schedulers.vllm_v1"
local Sglang = require "schedulers.sglang"

local function scenario(engine, more)
  return scene({ engine = engine, seed = 3,
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 40, prompt_tokens = 400,
      output_tokens = 30 } }, more)
end

local function applied(engine, more) return application.of(Reader.new "scenario", scenario(engine, more), true) end

local function parameter(found, key, name) return policy.parameters(found.given[key])[name] end

local function bytes_of(given) return json.encode(serve.run(given).summary) end

test("seats, budget, memory, graphs and asynchronous scheduling follow from release and GPU", function()
  local new, old, small = applied "vllm 0.24", applied "vllm 0.12", applied("vllm 0.24", { hardware = "l40s" })
  test.equal(parameter(new, "scheduler", "max_num_seqs"), 1024)
  test.equal(parameter(small, "scheduler", "max_num_seqs"), 256)
  test.equal(parameter(small, "scheduler", "max_num_batched_tokens"), 2048)
  test.equal(applied("vllm 0.24", { hardware = "a100-sxm-80gb" }).given.scheduler.max_num_seqs, 256)
  test.equal(new.given.deployment.memory_utilization, 0.92)
  test.equal(old.given.deployment.memory_utilization, 0.90)
  test.equal(new.given.async_depth, 2)
  test.equal(old.given.async_depth, 1)
  test.equal(parameter(applied "vllm 0.7.3", "scheduler", "max_num_seqs"), 256)
  local short = { deployment = { max_model_len = 8192 } }
  test.equal(applied("vllm 0.7.3", short).given.scheduler.name, "vllm_v0")
end)

test("SGLang and TensorRT-LLM bring their schedulers, their shares of the memory and their routers", function()
  local sglang = applied { "sglang 0.5.9", mem_fraction_static = 0.8, chunked_prefill_size = 4096 }
  test.equal(sglang.given.scheduler.name, "sglang")
  test.equal(parameter(sglang, "scheduler", "chunked_prefill_size"), 4096)
  test.equal(parameter(sglang, "steps", "largest_graph"), 256)
  test.equal(parameter(sglang, "steps", "dp_padding"), "sglang")
  test.equal(sglang.given.deployment.block_size, 1)
  test.equal(json.encode(sglang.memory), '["static",0.8]')
  local trtllm = applied { "tensorrt-llm 1.2.0rc0", kv_cache_config = { free_gpu_memory_fraction = 0.7 } }
  test.equal(trtllm.given.scheduler.name, "trtllm")
  test.equal(json.encode(trtllm.memory), '["free",0.7]')
  test.equal(applied("vllm 0.19").router, "vllm_dp")
  test.equal(applied("vllm 0.27").router, "vllm_dp_load")
end)

test("the KV cache is what the engine's share leaves", function()
  local function blocks(engine, more)
    local simulation = serve.open(scenario(engine, more))
    return simulation:replica().kv_blocks_total or simulation:replica().total_blocks
  end
  local less, more = blocks { "sglang 0.5.9", mem_fraction_static = 0.5 },
    blocks { "sglang 0.5.9", mem_fraction_static = 0.9 }
  local gib = (more - less) * 2 * 8 * 128 * 2 * 32 / 2 ^ 30  -- blocks of one token of Llama-3.1-8B
  local usable = rooflua.spec.hardware("h100-sxm").usable_memory_bytes / 2 ^ 30
  test.near(gib, 0.4 * usable, 0.01)
  test.equal(blocks({ "vllm 0.19", num_gpu_blocks_override = 777 }), 777)
  test.equal(blocks("sglang 0.5.9", { deployment = { kv_blocks = 4321 } }), 4321)
end)

test("what the scenario states wins", function()
  local own = applied("sglang 0.5.9", { scheduler = VllmV1 { max_num_seqs = 7 }, async_depth = 1,
    deployment = { block_size = 32 } })
  test.equal(own.given.scheduler.name, "vllm_v1")
  test.equal(own.given.scheduler.max_num_seqs, 7)
  test.equal(own.given.async_depth, 1)
  test.equal(own.given.deployment.block_size, 32)
  local mine = applied("sglang 0.5.9", { scheduler = Sglang { max_num_seqs = 7 }, hardware = "b200" })
  test.equal(mine.given.scheduler.max_num_seqs, 7)
  test.equal(parameter(mine, "scheduler", "chunked_prefill_size"), 16384, "what it leaves open follows")
  test.check(not policy.is_given(mine.given.scheduler, "chunked_prefill_size"), "and is not taken for stated")
end)

test("stating a default is not stating it, in any order of options, to the byte", function()
  local plain = bytes_of(scenario "vllm 0.24")
  test.equal(bytes_of(scenario { "vllm 0.24", max_num_seqs = 1024, max_num_batched_tokens = 8192,
    gpu_memory_utilization = 0.92, async_scheduling = true, enable_prefix_caching = true, block_size = 16,
    enforce_eager = false, max_cudagraph_capture_size = 512 }), plain)
  local one = { "sglang 0.5.9", mem_fraction_static = 0.85, page_size = 16, cuda_graph_max_bs = 64 }
  local other = { "sglang 0.5.9" }
  other.cuda_graph_max_bs, other.page_size, other.mem_fraction_static = 64, 16, 0.85
  test.equal(bytes_of(scenario(one)), bytes_of(scenario(other)))
  test.check(bytes_of(scenario(one)) ~= plain, "another engine, another result")
end)

test("an engine that is not stated is the newest vLLM, to the byte, and the result says so in one line", function()
  local newest = require("rooflua.engines.catalogue").newest(require("rooflua.engines.catalogue").default())
  for _, gpu in ipairs { "h100-sxm", "l40s" } do
    local own, stated = scenario(nil, { hardware = gpu }), scenario("vllm " .. newest, { hardware = gpu })
    own.engine = nil
    local result = serve.run(own)
    test.equal(json.encode(result.summary), bytes_of(stated), gpu)
    test.equal(result.notes[1], ("engine vllm %s, not stated"):format(newest))
    test.equal((serve.run(stated).notes or {})[1] ~= result.notes[1], true)
  end
  local neutral = scenario(nil, { deployment = { engine = "sglang" } })
  neutral.engine = nil
  test.equal(bytes_of(neutral), bytes_of(scenario "sglang"))
end)

test("every release of every engine serves, and its values have sources", function()
  local catalogue = require "rooflua.engines.catalogue"
  for _, name in ipairs(rooflua.engines.names()) do
    for _, release in ipairs(catalogue.of(name).releases) do
      local text = name .. " " .. release.name
      test.check(serve.run(scenario(text)).summary ~= nil, text)
      for value, source in pairs(rooflua.engines.of(text, { hardware = "b200", model = "qwen3.5-27b" }).sources) do
        test.check(type(source) == "string" and source ~= "" and source ~= "no source", text .. ": " .. value)
      end
    end
  end
end)

test("no graphs change the price: vLLM takes about twice as long at batch 1", function()
  local function step_s(engine, more)
    local given = scene({ kind = "price", model = "qwen3-14b", hardware = "a100-sxm-80gb", engine = engine,
      price = { { decode_contexts = { 16000 } } } }, more)
    local Prepared = require "rooflua.machine.prepared"
    return require("rooflua.machine.prices").price(Prepared.of(Reader.new "scenario", given)).time_s
  end
  local graphs, eager = step_s "vllm 0.19", step_s { "vllm 0.19", enforce_eager = true }
  test.check(eager > 1.2 * graphs and eager < 3 * graphs, ("%g ms and %g ms"):format(1e3 * graphs, 1e3 * eager))
  local none = step_s("vllm 0.19", { steps = require "steps.kernels" { largest_graph = 0 } })
  test.equal(none, eager)
  test.check(step_s { "sglang 0.5.9", disable_cuda_graph = true } > step_s "sglang 0.5.9", "SGLang, too")
end)

test("where two options set one key, the engine's own order decides", function()
  test.equal(parameter(applied { "vllm 0.19", enforce_eager = true, max_cudagraph_capture_size = 256 }, "steps",
    "largest_graph"), 0)
  test.equal(parameter(applied { "sglang 0.5.9", disable_cuda_graph = true, cuda_graph_max_bs = 64 }, "steps",
    "largest_graph"), 0)
  test.equal(parameter(applied { "vllm 0.19", max_cudagraph_capture_size = 256 }, "steps", "largest_graph"), 256)
end)

test("every option of every engine is taken with a value of its type", function()
  local catalogue = require "rooflua.engines.catalogue"
  local values = { integer = 2, number = 0.5, switch = true }
  local special = { schedule_policy = "lpm", num_gpu_blocks_override = 5000, max_total_tokens = 50000,
    max_model_len = 4096, context_length = 4096, max_seq_len = 4096, block_size = 16, page_size = 16, dp_size = 1,
    max_num_batched_tokens = 512, max_num_tokens = 512, ["kv_cache_config.tokens_per_block"] = 16,
    gpu_memory_utilization = 0.9, mem_fraction_static = 0.9, data_parallel_size = 1, pipeline_parallel_size = 1,
    pp_size = 1, ep_size = 1, decode_context_parallel_size = 1, prefill_context_parallel_size = 1, attn_cp_size = 1,
    dcp_size = 1, enable_attention_dp = false, enable_expert_parallel = false }
  for _, name in ipairs { "vllm", "sglang", "trtllm" } do
    local engine = catalogue.of(name)
    for _, option in ipairs(engine.options) do
      if option.key then
        local value = special[option.name]
        if value == nil then value = option.values and option.values[#option.values] or values[option.type] end
        local given = { ("%s %s"):format(name, catalogue.last(engine)) }
        given[option.name] = value
        local ok, problem = pcall(serve.run, scenario(given))
        test.check(ok, "%s %s = %s: %s", name, option.name, tostring(value), tostring(problem))
      end
    end
  end
end)

test("data-parallel ranks get the engine's router and padding, and options count as the engine counts them", function()
  local model = { model = "qwen3-30b-a3b" }
  local vllm = applied({ "vllm 0.19", data_parallel_size = 2, enable_expert_parallel = true }, model)
  test.equal(vllm.given.deployment.dp, 2)
  test.equal(vllm.given.deployment.ep, 2)
  local sglang = applied({ "sglang 0.5.9", tp_size = 4, dp_size = 4, enable_dp_attention = true,
    max_running_requests = 64 }, model)
  test.equal(sglang.given.deployment.tp, 1)
  test.equal(sglang.given.deployment.dp, 4)
  test.equal(parameter(sglang, "scheduler", "max_num_seqs"), 16)
  local trtllm = applied({ "trtllm 1.2.0rc0", tp_size = 4, enable_attention_dp = true }, model)
  test.equal(trtllm.given.deployment.tp * 10 + trtllm.given.deployment.dp, 14)
  local result = serve.run(scenario({ "vllm 0.19", data_parallel_size = 2 }, model))
  test.check(result.policies == nil or result.summary ~= nil)
end)

test("an unknown release, engine, option or value, and an option that is stated twice, are errors", function()
  local function refused(expected, engine, more)
    test.raises(expected, function() serve.run(scenario(engine, more)) end)
  end
  refused("unknown engine 'vlm'; did you mean 'vllm'", "vlm 0.19")
  refused("builds for TPUs are not modelled", "vllm-tpu 0.9")
  refused("vllm 0.1: rules are known from 0.5.0 on", "vllm 0.1")
  refused("'new' is no release", "vllm new")
  refused("did you mean 'max_num_seqs'", { "vllm 0.19", max_num_seq = 3 })
  refused("did you mean 'mem_fraction_static'", { "sglang 0.5.9", mem_fraction = 0.9 })
  refused("engine.max_num_seqs: expected a whole number, found", { "vllm 0.19", max_num_seqs = "64" })
  refused("engine.gpu_memory_utilization: expected", { "vllm 0.19", gpu_memory_utilization = 1.5 })
  refused("engine.enforce_eager: expected true or false", { "vllm 0.19", enforce_eager = 1 })
  refused("unknown value 'fp4'", { "vllm 0.19", kv_cache_dtype = "fp4" })
  refused("say role in an entry of `replicas`", { "vllm 0.19", kv_transfer_config = "x" })
  refused("max_num_seqs: the scenario states deployment.max_num_seqs as well", { "vllm 0.19", max_num_seqs = 3 },
    { deployment = { max_num_seqs = 4 } })
  refused("max_num_seqs: the scenario states scheduler.max_num_seqs as well", { "vllm 0.19", max_num_seqs = 3 },
    { scheduler = VllmV1 { max_num_seqs = 3 } })
  refused("deployment.engine = \"sglang\" is stated as well", "vllm 0.19", { deployment = { engine = "sglang" } })
  refused("expected the engine first", { max_num_seqs = 3 })
  refused("expected \"vllm 0.19\" or", 19)
  refused("without enable_dp_attention these are engines of their own; say replicas = 2",
    { "sglang 0.5.9", dp_size = 2 })
  refused("are not divided by 4 data-parallel ones", { "sglang 0.5.9", tp_size = 2, dp_size = 4,
    enable_dp_attention = true })
end)

test("a newer release and a build have the newest rules, which the result says", function()
  local function notes(engine) return table.concat(serve.run(scenario(engine)).notes or {}, "\n") end
  test.check(notes("vllm 0.99"):find("0.99 is newer than the rules that are known", 1, true), notes "vllm 0.99")
  test.check(notes("vllm nightly"):find("the newest that are known", 1, true))
  test.check(notes("sglang nightly-dev-20260216-d3bae71e"):find("the rules of 0.5.8, the release of that day", 1, true))
  test.check(notes("vllm"):find("none is stated", 1, true))
  test.equal(notes("vllm 0.19"):find("vllm 0.19", 1, true), nil)
end)

test("--set reaches the engine, its options and the scheduler that it brings", function()
  local changes = require "rooflua.applied.changes"
  local reader = Reader.new "scenario"
  local given = changes.set(reader, scenario "sglang 0.5.9", "engine.mem_fraction_static", 0.7)
  test.equal(json.encode(application.of(reader, given, true).memory), '["static",0.7]')
  given = changes.set(reader, scenario "sglang 0.5.9", "scheduler.chunked_prefill_size", 99)
  test.equal(given.scheduler.name, "sglang")
  given = changes.set(reader, scenario "trtllm 1.2.0rc0", "engine.kv_cache_config.free_gpu_memory_fraction", 0.6)
  test.equal(json.encode(application.of(reader, given, true).memory), '["free",0.6]')
  test.raises("states no engine", function() changes.set(reader, scenario(nil), "engine.max_num_seqs", 4) end)
end)

test("a policy that a live simulation gets follows from its engine as well", function()
  local simulation = serve.open(scenario("sglang 0.5.9", { hardware = "l40s" }))
  simulation:set { steps = require "steps.kernels" { host_step_s = 1e-3 }, scheduler = Sglang { max_num_seqs = 9 } }
  local state = require("rooflua.serving.live").state(simulation).replicas[1]
  test.equal(policy.parameters(state.scheduler).chunked_prefill_size, 4096)
  test.equal(policy.parameters(state.prepared.step_policy).largest_graph, 32)
  local small = serve.open(scenario("vllm 0.19", { hardware = "l40s" }))
  small:set { scheduler = VllmV1 { max_num_seqs = 9 } }
  test.equal(policy.parameters(require("rooflua.serving.live").state(small).replicas[1].scheduler)
    .max_num_batched_tokens, 2048)
  test.raises("is more than the 256", function() small:set { scheduler = VllmV1 { max_num_seqs = 999 } } end)
end)

test("replicas may have engines of their own", function()
  local result = serve.run(scenario("vllm 0.19", { replicas = { {}, { engine = "sglang 0.5.9" } } }))
  test.check(result.summary ~= nil)
  local both = bytes_of(scenario("vllm 0.19", { replicas = { {}, {} } }))
  test.check(json.encode(result.summary) ~= both)
end)

test.finish()
