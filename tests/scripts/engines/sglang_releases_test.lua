-- What SGLang's releases from 0.5.13 on do by default: overlap with drafts, graphs of prompts, and the share of memory.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local engines = require "rooflua.engines"

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

test("0.5.23 is known; without a release 0.5.14 holds, and values say how far theirs were read", function()
  local catalogue = require "rooflua.engines.catalogue"
  test.equal(catalogue.last(catalogue.of "sglang"), "0.5.23")
  test.equal(engines.of("sglang").release, "0.5.14")
  local sources = engines.of("sglang 0.5.23", { hardware = "h100-sxm", model = "llama-3.1-8b" }).sources
  test.has(sources.page_size, "not read: as 0.5.18")
  test.has(sources.chunked_prefill_size, "not read: as 0.5.20")
  test.has(sources.mem_fraction_static, "not read: as 0.5.20")
end)

test.finish()
