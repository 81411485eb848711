-- How long the largest shipped table takes to load, and an open without it. rooflua lua tests/bench/tables.lua
-- Prints ms of CPU time, least of five; exits 1 if the load needs 25 ms.
local mfu = require "rooflua.mfu"

local limit_ms = 25
local pipe = io.popen "ls -S bench_data/*/*.csv | head -1"
local path = pipe:read "*l"
pipe:close()
local gpu, op = path:match "bench_data/([^/]+)/(.-)_bf16"
local questions = {
  attention_decode = function(db) return db:decode(32, 8, 128, 64, 2048) end,
  attention_prefill = function(db) return db:prefill(32, 8, 128, 2048) end,
  gemm = function(db) return db:gemm(64, 4096, 6144, "bf16") end,
}
local ask = assert(questions[op], path .. ": no question is known for its op")

local open_ms, load_ms = math.huge, math.huge
for _ = 1, 5 do
  local start = os.clock()
  local db = mfu.open(gpu)
  local opened = os.clock()
  ask(db)
  open_ms = math.min(open_ms, (opened - start) * 1e3)
  load_ms = math.min(load_ms, (os.clock() - opened) * 1e3)
end
print(("%-60s open %5.1f ms, load and first answer %5.1f ms (limit %d)"):format(path, open_ms, load_ms, limit_ms))
os.exit(load_ms < limit_ms and 0 or 1)
