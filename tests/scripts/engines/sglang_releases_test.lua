-- What SGLang's releases from 0.5.13 on do by default: overlap with drafts, graphs of prompts, and the share of memory.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local catalogue = require "rooflua.engines.catalogue"
local engine_values = require "rooflua.engines.values"
local engines = require "rooflua.engines"
local implications = require "rooflua.engines.implications"
local rooflua = require "rooflua"

--- Values of a release, or of { release, option = value }, with a model on a GPU.
local function values(engine, more)
  local about = { model = "qwen3-32b", hardware = "h100-sxm" }
  for name, value in pairs(more or {}) do about[name] = value end
  if type(engine) == "string" then return bound.values("sglang " .. engine, about) end
  local asked = { "sglang " .. engine[1] }
  for name, value in pairs(engine) do
    if name ~= 1 then asked[name] = value end
  end
  return bound.values(asked, about)
end

test("graphs of prompts break at the attention from 0.5.15 on, up to the chunk, or 2,048 tokens of latent attention",
  function()
    local function tokens(engine, more) return values(engine, more).graphs_with_prefill end
    test.equal(tokens "0.5.14", 4096)
    test.equal(tokens "0.5.15", 8192)
    test.equal(tokens("0.5.19", { hardware = "l40s" }), 4096)
    test.equal(tokens { "0.5.15", chunked_prefill_size = 3000 }, 2816)
    test.equal(tokens { "0.5.15", max_total_tokens = 1000 }, 960)
    test.equal(tokens { "0.5.15", cuda_graph_max_bs_prefill = 512 }, 512)
    test.equal(tokens { "0.5.15", cuda_graph_bs_prefill = { 64, 1024, 256 } }, 1024)
    test.equal(tokens("0.5.15", { model = "deepseek-v3", hardware = "h200-sxm" }), 2048)
    test.equal(tokens("0.5.15", { dp = 2 }), 8192, "ranks of divided attention have them")
    test.equal(tokens("0.5.15", { model = "qwen3-next-80b-a3b", hardware = "h200-sxm" }), 8192, "and states")
    test.equal(tokens { "0.5.15", moe_a2a_backend = "deepep" }, 8192)
  end)

test("they are off where a user says so, and where SGLang does, unless a back end is named", function()
  local function tokens(engine, more) return values(engine, more).graphs_with_prefill end
  for _, each in ipairs { { disable_prefill_cuda_graph = true }, { cuda_graph_backend_prefill = "disabled" },
    { disable_cuda_graph = true }, { moe_a2a_backend = "mooncake" }, { enable_two_batch_overlap = true },
    { chunked_prefill_size = -1 } } do
    each[1] = "0.5.19"
    test.equal(tokens(each), false)
  end
  for _, each in ipairs { { pp = 2 }, { cp = 2 }, { dcp = 2 }, { hardware = "mi300x" },
    { model = "kimi-k3" }, { model = "deepseek-v3", hardware = "b200" } } do
    test.equal(tokens("0.5.19", each), false, next(each))
  end
  test.equal(tokens({ "0.5.19", cuda_graph_backend_prefill = "breakable" }, { pp = 2 }), 8192)
  test.equal(tokens({ "0.5.19", attention_backend = "flashinfer" }, { model = "deepseek-v3", hardware = "b200" }), 2048)
end)

test("the share of memory counts graphs of prompts from 0.5.14 on, and no flat reserve for drafters", function()
  local function share(engine, more) return values(engine, more).mem_fraction_static end
  test.equal(share "0.5.13", 0.834)
  test.equal(share "0.5.14", 0.829, "0.828 by issue 29092, of nvidia-smi's 81,559 MiB")
  test.equal(share { "0.5.19", disable_prefill_cuda_graph = true }, 0.834)
  local drafted = { drafts = 3, drafter = "mtp" }
  test.at_least(share "0.5.13" - share("0.5.13", drafted), 0.02)
  test.equal(share("0.5.15", drafted), share "0.5.15", "drafters are in the share")
end)

test("servers that only decode reserve for their requests, those that only prefill for no graphs of decodes", function()
  local function share(release, role)
    return values(release, { role = role, hardware = "a100-sxm-80gb" }).mem_fraction_static
  end
  test.check(share("0.5.20", "decode") > share("0.5.20", "both"))
  test.check(share("0.5.20", "prefill") > share("0.5.20", "both"))
end)

test("GPUs of 20 to 35 GB have larger chunks and graphs from 0.5.20 on", function()
  local function both(release, hardware)
    local found = values(release, { hardware = hardware, model = "qwen3-8b" })
    return found.chunked_prefill_size, found.cuda_graph_max_bs
  end
  for _, each in ipairs { { "0.5.19", "rtx-4090", 2048, 24 }, { "0.5.20", "rtx-4090", 4096, 48 },
    { "0.5.20", "rtx-5090", 4096, 48 }, { "0.5.20", "t4", 2048, 8 }, { "0.5.20", "l40s", 4096, 32 } } do
    local chunk, size = both(each[1], each[2])
    test.equal(chunk, each[3], each[1] .. " " .. each[2])
    test.equal(size, each[4], each[1] .. " " .. each[2])
  end
end)

test("steps with drafts overlap from 0.5.13 on; the variable that asked for it is gone in 0.5.14", function()
  local function apart(engine) return values(engine, { drafts = 3, drafter = "mtp" }).disable_overlap_schedule end
  test.equal(apart "0.5.12", true)
  test.equal(apart "0.5.13", false)
  test.equal(apart { "0.5.13", SGLANG_ENABLE_SPEC_V2 = "0" }, true)
  test.equal(apart "0.5.23", false)
  test.equal(apart { "0.5.23", disable_overlap_schedule = true }, true)
end)

test("pages are those of the back end that a release chooses by itself", function()
  for _, each in ipairs { { "0.5.3", "deepseek-v3", "b200", 1 }, { "0.5.4", "deepseek-v3", "b200", 64 },
    { "0.5.4", "deepseek-v3", "h200-sxm", 1 }, { "0.5.4", "gpt-oss-120b", "b200", 64 },
    { "0.5.8", "kimi-k2.5", "b200", 1 }, { "0.5.9", "kimi-k2.5", "b200", 64 }, { "0.5.6", "qwen3-32b", "b200", 1 },
    { "0.5.7", "qwen3-32b", "b200", 64 }, { "0.5.7", "qwen3-32b", "rtx-pro-6000", 1 },
    { "0.5.13", "qwen3-next-80b-a3b", "b200", 1 }, { "0.5.14", "qwen3-next-80b-a3b", "b200", 64 },
    { "0.5.4", "deepseek-v3.2", "h200-sxm", 64 }, { "0.5.14", "deepseek-v4-flash", "b200", 256 },
    { "0.5.6", "mistral-large-3", "b200", 1 }, { "0.5.7", "mistral-large-3", "b200", 64 },
    { "0.5.17", "kimi-k3", "b200", 64 }, { "0.5.17", "kimi-k3", "h200-sxm", 1 },
    { "0.5.14", "step-3.7-flash", "b200", 64 }, { "0.5.15", "step-3.7-flash", "b200", 128 },
    { "0.5.16", "inkling", "b200", 128 }, { "0.5.16", "minimax-m3", "b200", 128 },
    { "0.5.16", "minimax-m3", "h200-sxm", 128 }, { "0.5.19", "hy4-preview", "h200-sxm", 64 },
    { "0.5.19", "qwen3.8-flash-next", "h200-sxm", 64 } } do
    test.equal(values(each[1], { model = each[2], hardware = each[3] }).page_size, each[4], table.concat(each, " "))
  end
  local stated = values({ "0.5.14", attention_backend = "flashinfer" }, { hardware = "b200" })
  test.equal(stated.page_size, 1, "not of a back end that is stated")
end)

test("FlashAttention 4 has pages of 128 tokens: from 0.5.10 on with SM 10.x, from 0.5.15 on for decodes", function()
  local sglang = catalogue.of "sglang"
  local function page(release, option, hardware, model, topk)
    local facts = { tp = 1, dp = 1, pp = 1, ep = 1, cp = 1, hardware = rooflua.spec.hardware(hardware),
      model = rooflua.spec.model(model or "qwen3-8b") }
    local stated = { [option .. "attention_backend"] = "fa4", speculative_eagle_topk = topk }
    local about = { facts = function() return facts end, is_said = function() return false end,
      values = function(options) return engine_values.of(sglang, release, facts, options).values end }
    return (implications.of(sglang, release, stated, about)).page_size or 1
  end
  for _, each in ipairs { { "0.5.9", "prefill_", "h100-sxm", 128 }, { "0.5.10", "prefill_", "h100-sxm", 1 },
    { "0.5.10", "prefill_", "b200", 128 }, { "0.5.15", "prefill_", "b200", 128 },
    { "0.5.15", "prefill_", "rtx-pro-6000", 1 }, { "0.5.14", "decode_", "b200", 1 },
    { "0.5.15", "decode_", "b200", 128 }, { "0.5.15", "", "b200", 128 } } do
    test.equal(page(each[1], each[2], each[3]), each[4], table.concat(each, " "))
  end
  test.equal(page("0.5.5", "prefill_", "b200", "deepseek-v3"), 128)
  test.equal(page("0.5.6", "prefill_", "b200", "deepseek-v3"), 1, "latent attention has not")
  test.equal(page("0.5.15", "", "b200", "qwen3-8b", 4), 1, "nor a tree of drafts")
end)

test("from 0.5.18 on the KV cache leaves embeddings and pixels their memory", function()
  local function images(release, model, more)
    local engine = { "sglang " .. release }
    for name, value in pairs(more or {}) do engine[name] = value end
    local found = engines.capacity { engine = engine, model = model, hardware = "h200-sxm" }
    for _, part in ipairs(found.parts) do
      if part.name == "images" then return part.bytes / 2 ^ 20 end
    end
    return 0
  end
  test.equal(images("0.5.17", "qwen3-vl-32b"), 0)
  test.equal(images("0.5.18", "qwen3-vl-32b"), 100)
  test.equal(images("0.5.18", "qwen3-32b"), 0)
  test.equal(images("0.5.18", "gemma-3-27b"), 0, "its encoder is not loaded")
  test.equal(images("0.5.18", "qwen3-vl-32b", { SGLANG_VLM_CACHE_SIZE_MB = "500" }), 500)
  test.equal(images("0.5.18", "qwen3-vl-32b", { mm_feature_transport = "cuda_ipc" }), 1124)
  test.equal(images("0.5.18", "qwen3-vl-32b", { keep_mm_feature_on_device = true }), 1124)
  test.equal(images("0.5.18", "qwen3-vl-32b", { mm_feature_transport = "cpu" }), 100)
  test.equal(images("0.5.18", "qwen3-vl-32b", { mm_feature_transport = "cuda_vmm",
    SGLANG_MM_FEATURE_CACHE_MB = "2048" }), 2148)
end)

test("a slot for states is spare from 0.5.17 on; Inkling has a tenth for states and windows", function()
  local function capacity(release, model)
    return engines.capacity { engine = "sglang " .. release, model = model, hardware = "h200-sxm",
      deployment = { tp = 2 } }
  end
  test.equal(values("0.5.16").spare_state_slots, 0)
  test.equal(values("0.5.17").spare_state_slots, 1)
  local before, after = capacity("0.5.16", "qwen3-next-80b-a3b"), capacity("0.5.17", "qwen3-next-80b-a3b")
  test.check(before.max_running_requests >= after.max_running_requests)
  test.at_least(after.kv_bytes, 1e9)
  test.equal(before.kv_bytes, after.kv_bytes, "it was allocated before")
  local inkling = values("0.5.16", { model = "inkling", hardware = "b200" })
  test.equal(inkling.swa_full_tokens_ratio, 0.1)
  test.equal(inkling.mamba_full_memory_ratio, 0.1)
  test.equal(inkling.state_slots, 5)
end)

test("decode steps between prompts are an option from 0.5.19 on", function()
  local asked = { "sglang 0.5.18", prefill_decode_interval = 2 }
  test.raises("since 0.5.19", function() engines.capacity { engine = asked, model = "qwen3-8b", hardware = "b200" } end)
  asked[1] = "sglang 0.5.19"
  engines.capacity { engine = asked, model = "qwen3-8b", hardware = "b200" }
end)

test("sparse attention keeps its keys in FP8 on Blackwell where nothing is stated", function()
  local function format(release, model, gpu)
    return values(release, { model = model, hardware = gpu }).kv_cache_dtype
  end
  test.equal(format("0.5.4", "deepseek-v3.2", "b200"), "fp8_e4m3")
  test.check(format("0.5.4", "deepseek-v3.2", "h200-sxm") ~= "fp8_e4m3")
  test.check(format("0.5.14", "deepseek-v3", "b200") ~= "fp8_e4m3")
  test.equal(format("0.5.14", "deepseek-v4-flash", "h200-sxm"), "fp8_e4m3")
end)

test("an encoder of images takes a part of the share, by its layers and its width", function()
  local function share(model, role)
    return values("0.5.12", { model = model, hardware = "h200-sxm", role = role }).mem_fraction_static
  end
  local text = share "qwen3-32b"
  test.near(share "qwen3.5-27b" / text, 0.95 * (1 - 0.1 * (1152 ^ 2 / 1024 ^ 2 - 1)), 1e-9, "depth is not read")
  test.near(share "gemma-3-27b" / text, 1, 1e-9, "it is not loaded")
  test.near(share("qwen3.5-27b", "decode") / share("qwen3-32b", "decode"), 1, 1e-9)
  local function of_tp4(model)
    return values("0.5.9", { model = model, hardware = "gb300", tp = 4 }).mem_fraction_static
  end
  test.near(of_tp4 "kimi-k2.5" / of_tp4 "kimi-k2", 0.95, 1e-9, "names of its own hide the width as well")
end)

test("AITER takes 15 % of the share where requests may be longer than 8,192 tokens", function()
  local function share(options, model)
    options[1] = "0.5.12"
    return values(options, { model = model or "qwen3-32b", hardware = "mi300x" }).mem_fraction_static
  end
  local short = share { context_length = 8192 }
  test.near(share {} / short, 0.85, 1e-9)
  test.near(share { attention_backend = "triton" } / short, 1, 1e-9)
  test.equal(share { mem_fraction_static = 0.8 }, 0.8, "not of a share that is stated")
end)

test("each rank of divided attention has the seats of one where none are stated", function()
  local function seats(dp) return values("0.5.14", { dp = dp, hardware = "h200-sxm" }).max_running_requests end
  test.equal(seats(4), 4 * seats(1))
end)

test("roles are told apart from 0.5.15 on, DeepEP's buffers from 0.5.16 on", function()
  local function share(release, role, exchange)
    return values({ release, moe_a2a_backend = exchange, disable_prefill_cuda_graph = true },
      { model = "deepseek-v3", hardware = "a100-sxm-80gb", role = role, tp = 8 }).mem_fraction_static
  end
  test.equal(share("0.5.14", "decode"), share("0.5.14", "both"))
  test.check(share("0.5.15", "decode") > share("0.5.15", "both"))
  test.equal(share("0.5.15", "both", "deepep"), share("0.5.15", "both"))
  test.check(share("0.5.16", "both", "deepep") < share("0.5.16", "both"))
end)

test("classes with encoders are let into graphs of prompts one by one, and ranks have graphs of their own chunk",
  function()
    local function tokens(release, model, more)
      local about = { model = model, hardware = "h200-sxm" }
      for name, value in pairs(more or {}) do about[name] = value end
      return values(release, about).graphs_with_prefill
    end
    test.equal(tokens("0.5.15", "qwen3.5-27b"), false)
    test.equal(tokens("0.5.16", "qwen3.5-27b"), 8192)
    test.equal(tokens("0.5.17", "kimi-k2.5"), false)
    test.equal(tokens("0.5.18", "kimi-k2.5"), 2048)
    test.equal(tokens("0.5.18", "gemma-4-31b"), false)
    test.equal(tokens("0.5.15", "qwen3-32b", { dp = 4 }), 8192)
    test.equal(tokens("0.5.16", "qwen3-32b", { dp = 4 }), 2048)
  end)

test("families have norms beside their all-reduce one after the other", function()
  for _, each in ipairs { { "qwen3.5-27b", "0.5.9", "0.5.10" }, { "deepseek-v3.2", "0.5.10", "0.5.11" },
    { "nemotron-3-nano", "0.5.13", "0.5.14" }, { "deepseek-v4-flash", "0.5.17", "0.5.18" } } do
    local about = { model = each[1], hardware = "b200", tp = 4 }
    test.check(values(each[2], about).norm_apart_s > 0, each[1])
    test.equal(values(each[3], about).norm_apart_s, 0, each[1])
  end
end)

test("0.5.23 is known; without a release 0.5.14 holds, and values say how far theirs were read", function()
  test.equal(catalogue.last(catalogue.of "sglang"), "0.5.23")
  test.equal(engines.of("sglang").release, "0.5.14")
  local sources = engines.of("sglang 0.5.23", { hardware = "h100-sxm", model = "llama-3.1-8b" }).sources
  test.has(sources.page_size, "not read: as 0.5.18")
  test.has(sources.chunked_prefill_size, "not read: as 0.5.20")
  test.has(sources.mem_fraction_static, "not read: as 0.5.20")
end)

test.finish()
