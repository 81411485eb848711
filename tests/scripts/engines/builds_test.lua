-- What people write behind the name of an engine: releases with a variant, builds of a day, switches.
local test = dofile "tests/scripts/harness.lua"
local chunks = require "rooflua.sandbox.chunks"
local choice = chunks.require "rooflua.engines.choice"

local function parse(text) return choice.parse(text, true) end

test("a day is the newest release up to it, in several spellings", function()
  for _, text in ipairs { "vllm nightly of 7 September", "vllm nightly 2026-09-07", "vllm nightly-20260907",
    "vllm nightly (September 7, 2026)", "vllm main of 7th Sep" } do
    test.equal(parse(text).release, "0.28.0", text)
  end
  test.equal(parse("vllm nightly of 9 September").release, "0.29.0")
  test.check(parse("vllm nightly of 7 September").note:find("the release of that day", 1, true))
end)

test("a build with a number is that release, or from before it where it is none", function()
  test.equal(parse("vllm 0.29.0 nightly").release, "0.29.0")
  test.equal(parse("vllm 0.29.1 nightly d9105ea8 (2026-09-07)").release, "0.29.1.dev0")
  test.equal(parse("vllm nightly before 0.21").release, "0.20.0")
  test.equal(parse("sglang nightly before nightly-20260216").release, "0.5.8")
  test.raises("no release before 0.1 is known", function() parse "vllm nightly before 0.1" end)
end)

test("a switch of the engine is its option, and a note says so", function()
  local found = parse "vllm 0.26.0 runner V2"
  test.equal(found.options.VLLM_USE_V2_MODEL_RUNNER, "1")
  test.check(found.note:find("VLLM_USE_V2_MODEL_RUNNER = 1", 1, true), found.note)
  test.equal(parse("vllm 0.26 (MRv1)").options.VLLM_USE_V2_MODEL_RUNNER, "0")
  test.equal(parse("vllm 0.22 (estimate on)").options.VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS, "1")
  test.equal(parse("vllm 0.22, max_num_seqs=64").options.max_num_seqs, 64)
end)

test("other words are named in a note; an unknown option is an error", function()
  local found = parse "vllm 0.24.0 (370/420 W) + some-patch"
  test.equal(found.release, "0.24.0")
  test.check(found.note:find("no switch that is known, left out: 370/420 W some-patch", 1, true), found.note)
  test.raises("'max_seats' is no option that is known", function() parse "vllm 0.24 max_seats=3" end)
  test.raises("is no release", function() parse "vllm fast 0.24" end)
end)

test("a switch acts as the option does, also beside others; one who reads no options refuses it", function()
  local engines = require "rooflua.engines"
  local function tokens(engine)
    return engines.capacity({ model = "qwen3-8b", hardware = "h100-sxm", engine = engine }).kv_tokens
  end
  local said = tokens "vllm 0.26 runner V1"
  test.equal(said, tokens { "vllm 0.26", VLLM_USE_V2_MODEL_RUNNER = "0" })
  test.check(said < tokens "vllm 0.26", "V1 counts graphs in this release, and V2 does not")
  test.equal(tokens { "vllm 0.26 runner V1", max_num_seqs = 64 },
    tokens { "vllm 0.26", max_num_seqs = 64, VLLM_USE_V2_MODEL_RUNNER = "0" })
  test.raises("max_num_seqs is 64 and 32", function() tokens { "vllm 0.26 max_num_seqs=64", max_num_seqs = 32 } end)
  test.raises("no option is read here", function() engines.of "vllm 0.26 runner V1" end)
end)

test.finish()
