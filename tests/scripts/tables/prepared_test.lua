-- db:prepare: questions asked together have the same answers as alone, and errors name the question.
local rooflua = require "rooflua"
local test = dofile "tests/scripts/harness.lua"

local function questions(db)
  return db:prepare {
    qkv = { op = "gemm", k = 4096, n = 6144, m = "first" },
    core = { op = "attention_decode", heads = 32, kv_heads = 8, head_dim = 128, batch = "first",
             context_tokens = "second" },
    prompt = { op = "attention_prefill", heads = 32, kv_heads = 8, head_dim = 128, new_tokens = "second" },
    norm = { op = "elementwise", kernel = "norm", tokens = "first", width = 4096 },
  }
end

test("questions asked together have the answers they have alone", function()
  local db = rooflua.mfu.open "h200-sxm"
  local asked = questions(db)
  for i = 1, 300 do
    local m, context = 1 + i % 97, 50 + 13 * (i % 31)
    local mfu, latency_s = asked:ask(m, context)
    local alone, estimate = db:gemm(m, 4096, 6144)
    test.equal(mfu.qkv, alone)
    test.equal(latency_s.qkv, estimate.latency_s)
    test.equal(mfu.core, (db:decode(32, 8, 128, m, context)))
    test.equal(mfu.prompt, (db:prefill(32, 8, 128, context)))
    test.equal(asked:evidence "core", select(2, db:decode(32, 8, 128, m, context)).evidence)
    test.check(mfu.norm ~= mfu.norm, "a kernel without arithmetic has an MFU")
  end
end)

test("answers are read-only, and those of one list stay when another is asked", function()
  local db = rooflua.mfu.open "h200-sxm"
  local one, other = questions(db), questions(db)
  local mfu = one:ask(8, 1000)
  local before = mfu.qkv
  other:ask(4096, 10)
  test.equal(mfu.qkv, before)
  test.raises("constant", function() mfu.qkv = 1 end)
  test.raises("read-only", function() one.ask = 1 end)
  test.raises("unknown field 'asks'", function() return one.asks end)
end)

test("a user's lookup answers them, and is asked once for each", function()
  local calls, folder = 0, test.folder()
  local file = assert(io.open(folder .. "/gemm_bf16.csv", "w"))
  file:write "m,k,n,latency_us\n1,4096,6144,10\n"
  file:close()
  local db = rooflua.mfu.open { path = folder, hardware = "h100-sxm" }:with(function(_, query)
    calls = calls + 1
    return query.m * 1e-6, "measured"
  end)
  local asked = db:prepare { up = { op = "gemm", k = 4096, n = 6144, m = "first" } }
  for _ = 1, 3 do
    local _, latency_s = asked:ask(7, 0)
    test.equal(latency_s.up, 7e-6)
    test.equal(asked:evidence "up", "measured")
  end
  test.equal(calls, 1)
end)

test("a question that fails says so when its answer is read, and the others have theirs", function()
  local db = rooflua.mfu.open "h200-sxm"
  local asked = questions(db)
  local mfu = asked:ask(16, 0)
  test.equal(mfu.qkv, (db:gemm(16, 4096, 6144)))
  test.raises("new_tokens", function() return mfu.prompt end)
  local again = asked:ask(16, 10)
  test.equal(again.prompt, (db:prefill(32, 8, 128, 10)))
end)

test("what is wrong with questions is said when they are prepared", function()
  local db = rooflua.mfu.open "h200-sxm"
  test.raises("questions by name", function() db:prepare {} end)
  test.raises("name of letters", function() db:prepare { { op = "gemm" } } end)
  test.raises("gemm", function() db:prepare { up = { op = "gem" } } end)
  test.raises("k", function() db:prepare { up = { op = "gemm", k = "first" } } end)
  test.raises("first is", function() db:prepare { up = { op = "gemm", m = "first", k = "first" } } end)
  test.raises("expected a number", function() db:prepare { up = { op = "gemm", m = "third" } } end)
  test.raises("second", function() questions(db):ask(16) end)
  test.raises("kv", function() questions(db):evidence "kv" end)
end)

test.finish()
