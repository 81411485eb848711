-- Kinds of layers that Lua files declare (docs/LAYERS.md): copies of shipped kinds against these, work against sums
-- written out by hand, laws of the words of a model, and files that are wrong.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"

local folder = os.tmpname()
os.remove(folder)
os.execute(("mkdir -p '%s/layers/attention' '%s/layers/mlp'"):format(folder, folder))
files.beside(folder .. "/scenario.lua")

local function write(of, name, text)
  local path = ("%s/layers/%s/%s.lua"):format(folder, of, name)
  local handle = assert(io.open(path, "w"))
  handle:write(text)
  handle:close()
  return path
end

--- A kind with the projections of full attention. `cache` and `pairs` are texts of Lua.
local function plain(cache, pairs)
  return ([[
return {
  doc = "a copy",
  parameters = {
    size = { default = 512, unit = "tokens", min = 1, doc = "the bound" },
    heads = { default = "heads", min = 1 }, kv_heads = { default = "kv_heads", min = 1 },
    head_dim = { default = "head_dim", min = 1 },
  },
  weights = function(p, model)
    local function to(name, heads)
      return { name = name, rows = model.hidden_size, columns = heads * p.head_dim, class = "attention",
        split = "columns", heads = heads }
    end
    return { to("q", p.heads), to("k", p.kv_heads), to("v", p.kv_heads), { name = "o", rows = p.heads * p.head_dim,
      columns = model.hidden_size, class = "attention_output", split = "rows", heads = p.heads } }
  end,
  cache = function(p) return { { elements = 2 * p.kv_heads * p.head_dim, split = "heads",
    heads = p.kv_heads, %s } } end,
  ops = function(p, ask)
    return { ask.gemm { "q", "k", "v", name = "qkv" },
      ask.attention { pairs = ask.pairs { %s }, heads = p.heads, kv_heads = p.kv_heads, dims = p.head_dim },
      ask.gemm { "o" } }
  end,
}
]]):format(cache, pairs)
end

write("attention", "own_full", plain('kind = "token"', ""))
write("attention", "own_window", plain('kind = "window", window = p.size', "window = p.size"))
write("mlp", "own_dense", [[
return {
  parameters = { width = { default = "intermediate_size", min = 1 } },
  weights = function(p, model)
    local hidden = model.hidden_size
    return {
      { name = "gate", rows = hidden, columns = p.width, class = "dense_mlp", split = "columns" },
      { name = "up", rows = hidden, columns = p.width, class = "dense_mlp", split = "columns" },
      { name = "down", rows = p.width, columns = hidden, class = "dense_mlp", split = "rows" },
    }
  end,
  ops = function(p, ask)
    return { ask.gemm { "gate", "up", name = "gate_up" }, ask.gemm { "down" } }
  end,
}
]])

local function layered(attention, more) return bound.layered(attention, nil, more) end

local copies = {
  { { kind = "full", layers = 4 }, { kind = "own_full", layers = 4 } },
  { { kind = "window", layers = 4, window = 512 }, { kind = "own_window", layers = 4, size = 512 } },
}
local beside = { kind = "full", layers = 2 }
local loads = { bound.decodes(16, 3000), bound.prefill(700), bound.prefill(100, 5000), bound.mixed(300, 900, 7, 2000) }

--- Rows of a load by name, "@kind" left out.
local function rows_of(model, load, options)
  local out = {}
  for name, row in pairs(bound.rows_of(bound.kernels(model, options), load)) do
    out[(name:gsub("@.*", ""))] = (out[name:gsub("@.*", "")] or 0) + row.time_s
  end
  return out
end

test("a copy of a shipped kind has its weights, its cache and the bits of its prices", function()
  for _, pair in ipairs(copies) do
    for _, tp in ipairs { 1, 4 } do
      local shipped, own = layered { pair[1], beside }, layered { pair[2], beside }
      test.equal(own:parameters(), shipped:parameters(), pair[1].kind)
      test.equal(own:kv_bytes_per_token "fp8", shipped:kv_bytes_per_token "fp8")
      local counts = { require("rooflua.native").rank_counts(shipped, { tp = tp }),
        require("rooflua.native").rank_counts(own, { tp = tp }) }
      for _, key in ipairs { "growing_bytes", "bounded_bytes", "window", "kv_heads", "layers" } do
        test.equal(counts[2].kinds[1][key], counts[1].kinds[1][key], key)
      end
      for key, elements in pairs(counts[1].stages[1].weights) do
        test.equal(counts[2].stages[1].weights[key], elements, key)
      end
      for i, load in ipairs(loads) do
        local a, b = rows_of(shipped, load, { tp = tp }), rows_of(own, load, { tp = tp })
        for _, name in ipairs { "qkv", "attention_decode", "attention_prefill", "o" } do
          test.equal(b[name], a[name], ("%s of load %d, tp %d: %s"):format(pair[1].kind, i, tp, name))
        end
      end
    end
  end
end)

test("an MLP of a file has the weights and the GEMMs of a shipped one", function()
  local shipped = layered { { kind = "full", layers = 2 } }
  local own = bound.layered({ { kind = "full", layers = 2 } }, { { kind = "own_dense", layers = 2 } })
  test.equal(own:parameters(), shipped:parameters())
  local a, b = rows_of(shipped, loads[4]), rows_of(own, loads[4])
  for _, name in ipairs { "gate_up", "down" } do test.equal(b[name], a[name], name) end
end)

write("attention", "work", [[
return {
  parameters = { heads = { default = 8, min = 1 } },
  weights = function(p, model)
    return { { name = "in", rows = model.hidden_size, columns = 64, class = "linear_attention" } }
  end,
  cache = function(p)
    return { { kind = "state", elements = 100, format = "fp32", split = "heads", heads = p.heads } }
  end,
  ops = function(p, ask)
    return { ask.gemm { "in" }, ask.compute { name = "scan", mfu = 0.5, heads = p.heads, split = "heads",
      flop = 1000 + 3 * ask.tokens + (ask.pairs { top = 100 } * 10 - 2 * ask.requests + 4 * ask.requests) / 2,
      bytes = ask.context { top = 100 } * 6 } }
  end,
}
]])

test("work is the sum of its symbols, divided over heads", function()
  local model = layered { { kind = "full", layers = 2 }, { kind = "work", layers = 3 } }
  local deployment = rooflua.spec.deployment { model = model, hardware = "h100-sxm", tp = 2, kv_blocks = 1000 }
  local found
  for _, op in ipairs(rooflua.cost.layers(model, deployment)) do if op.name == "scan" then found = op end end
  test.equal(found.count, 3)
  local wanted = { one = 500, tokens = 1.5, requests = 0.5, pairs = 2.5, context = 0 }
  for name, factor in pairs(wanted) do test.equal(found.flop[name], factor, name) end
  test.equal(found.bytes.context, 3)
  local row = bound.rows_of(bound.kernels(model), bound.mixed(300, 50, 4, 99)).scan
  -- pairs: 50 new tokens with 51 to 100, 250 with 100; each decode with its 100
  local pairs_there = (51 + 100) * 50 / 2 + 250 * 100 + 400
  test.equal(row.flop, 1000 + 3 * 304 + 5 * pairs_there + 5)
  test.equal(row.bytes, 6 * (400 + 350))
  test.equal(row.evidence, "assumed")
end)

test("a state counts for a request, and its layers see no context", function()
  local model = layered { { kind = "full", layers = 2 }, { kind = "work", layers = 3 } }
  test.equal(model.attention[2].keeps_state, true)
  local few, many = layered { { kind = "full", layers = 2 } }, model
  test.equal(many:kv_bytes_per_token "bf16", few:kv_bytes_per_token "bf16")
  test.equal(require("rooflua.native").rank_counts(model, { tp = 4 }).kinds[2].state_elements, 25)
end)

write("attention", "far", (plain('kind = "token", on_host = true', "")
  :gsub("ask.gemm { \"o\" }", 'ask.read { name = "fetch", from = "host", bytes = 4 * ask.context { top = 100 } }, %0')))

test("a cache on the host takes no memory of GPUs, and what is fetched of it crosses the host's link", function()
  local model = layered { { kind = "full", layers = 2 }, { kind = "far", layers = 3 } }
  local counts = require("rooflua.native").rank_counts(model, { tp = 1 })
  test.equal(counts.kinds[2].growing_bytes, 0)
  test.equal(model:kv_bytes_per_token "bf16", (layered { { kind = "full", layers = 2 } }):kv_bytes_per_token "bf16")
  local row = bound.rows_of(bound.kernels(model), bound.decodes(16, 3000))["fetch@far"]
  test.equal(row.bytes, 4 * 16 * 100)
  local few = bound.rows_of(bound.kernels(model), bound.decodes(1, 3000))["fetch@far"]
  local link = require("rooflua.spec").hardware("h100-sxm").host_bytes_per_s
  test.near(row.time_s - few.time_s, 4 * 15 * 100 / link, 1e-9)
end)

local function same_prices(a, b, what)
  for i, load in ipairs(loads) do
    local x, y = bound.kernels(a):time(load), bound.kernels(b):time(load)
    test.near(y, x, 1e-12, ("%s, load %d"):format(what, i))
  end
end

test("a loop of one visit, a tail as long as the context, one stream and a table of no rows change nothing", function()
  local none = layered { { kind = "own_window", layers = 2 }, beside }
  same_prices(none, layered { { kind = "own_window", layers = 2, visits = 1 }, beside }, "visits")
  same_prices(none, layered { { kind = "own_window", layers = 2, prefill_tail = 262144 }, beside }, "tail")
  same_prices(none, layered({ { kind = "own_window", layers = 2 }, beside }, { streams = 1 }), "streams")
  local table = { { rows = 0, columns = 256, rows_per_token = 8 } }
  local with = layered({ { kind = "own_window", layers = 2 }, beside }, { ngram_tables = table })
  same_prices(none, with, "ngram_tables")
  test.equal(with:parameters(), none:parameters())
end)

test("a tail that no prompt is longer than costs what no tail costs, a shorter one less", function()
  local mlps = { { kind = "dense", layers = 2 }, { kind = "dense", layers = 2 } }
  local function with(tail)
    local own = core.copy(mlps[2], { prefill_tail = tail })
    return bound.layered({ beside, { kind = "full", layers = 2, prefill_tail = tail } }, { mlps[1], own })
  end
  local chunk = rooflua.cost.batch { prefills = { { new_tokens = 6000, context_tokens = 300, completes = true } } }
  local function gemms(tail)
    local sum = 0
    for name, row in pairs(bound.rows_of(bound.kernels(with(tail)), chunk)) do
      if name:find "^gate_up" or name:find "^attention_prefill" then sum = sum + row.time_s end
    end
    return sum
  end
  test.near(gemms(9000), gemms(nil), 1e-9)
  test.check(gemms(128) < 0.6 * gemms(nil), "%g and %g", gemms(128), gemms(nil))
  test.near(bound.kernels(with(128)):time(loads[1]), bound.kernels(with(nil)):time(loads[1]), 1e-9, "decodes")
end)

test("whatever its chunks are, exactly the last w tokens of a prompt run through its tail", function()
  local tail, serve = require "steps.kernels.tail", require "rooflua.serve"
  for _, budget in ipairs { 4096, 300, 450, 64 } do
    local live = serve.open { model = "llama-3.1-8b", hardware = "h100-sxm", deployment = { kv_blocks = 1000 },
      scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = budget },
      workload = require "workloads.constant" { rate_per_s = 1, num_requests = 1, prompt_tokens = 1000,
        output_tokens = 2 } }
    local seen, steps = { 0, 0 }, 0
    while live:step(1) do
      for _, chunk in ipairs(live:last_step(1).prefill_work) do
        chunk.left_tokens, steps = chunk.left_tokens or 0, steps + 1
        for i, w in ipairs { 128, 5000 } do seen[i] = seen[i] + tail.tokens(chunk, w) end
      end
    end
    live:close()
    test.equal(seen[1], 128, "of chunks of " .. budget)
    test.equal(seen[2], 1000, "of chunks of " .. budget)
    test.equal(steps, math.ceil(1000 / budget))
  end
end)

test("streams add traffic, and tables of n-grams bytes, rows and parameters", function()
  local kinds = { { kind = "full", layers = 2 } }
  local one, four = layered(kinds), layered(kinds, { streams = 4 })
  test.check(bound.kernels(four):time(loads[2]) > bound.kernels(one):time(loads[2]))
  local table = { rows = 1000, columns = 256, rows_per_token = 8, dtype = "fp8" }
  local on_gpu = layered(kinds, { ngram_tables = { table } })
  local on_host = layered(kinds, { ngram_tables = { core.copy(table, { on_host = true }) } })
  test.equal(on_gpu:parameters() - one:parameters(), 256000)
  test.equal(on_gpu:active_parameters(), one:active_parameters())
  local function weights(of) return rooflua.spec.deployment { model = of, hardware = "h100-sxm" }.weight_bytes end
  test.equal(weights(on_gpu) - weights(one), 256000)
  test.equal(weights(on_host), weights(one))
  local rows = bound.rows_of(bound.kernels(on_gpu), loads[1])
  test.equal(rows.ngram_rows.bytes, 16 * 8 * 256)
end)

-- Files that are wrong -----------------------------------------------------------------------------

local good = plain('kind = "window", window = p.size', "window = p.size")

--- What is said of a kind whose file has that text.
local function problem_of(text, group)
  local path = write("attention", "wrong", text)
  local own = { kind = "wrong", layers = 2 }
  for key, value in pairs(group or {}) do own[key] = value end
  local ok, problem = pcall(layered, { own, beside })
  return not ok and tostring(problem), path
end

test("what is wrong in a file is an error with its line", function()
  local lines = {
    { 'split = "columns"', 'split = "column"', 8 }, { 'class = "attention",', 'class = "atention",', 8 },
    { "rows = model.hidden_size", "rows = -4", 8 }, { "rows = model.hidden_size", "rows = 0 / 0", 8 },
    { "columns = heads", "colums = heads", 8 }, { "p.size", "p.sise", 16 },
    { "ask.gemm { \"o\" }", 'ask.gemm { "x" }', 21 },
    { "dims = p.head_dim", "dims = -1", 20 }, { "dims = p.head_dim", "dim = 4", 20 },
    { "{ window = p.size }", "{ window = p.size, top = 3 }", 20 }, { "ask.pairs {", "ask.tokens * ask.pairs {", 20 },
    { "return { ask.gemm", "while true do end return { ask.gemm", 20 },
    { "return { ask.gemm", "local s = 'x' while true do s = s .. s end return { ask.gemm", 20 },
    { "local function to(name, heads)", "return 5, function(name, heads)", 13 },
    { "parameters = {", "parametres = {", 1 }, { "min = 1, doc", "least = 1, doc", 1 },
    { "return { to(", "return { { to(", 15 },
  }
  for _, each in ipairs(lines) do
    local from, to, line = each[1], each[2], each[3]
    local at, last = good:find(from, 1, true)
    local problem, path = problem_of(good:sub(1, at - 1) .. to .. good:sub(last + 1))
    test.check(problem, "%s is accepted", to)
    test.check(problem:find(path, 1, true), "%s names no file: %s", to, problem)
    local found = tonumber(problem:match(path:gsub("%p", "%%%0") .. ":(%d+)"))
    test.check(found and math.abs(found - line) <= 1 or problem:find "MiB", "%s: line %d, not %s", to, line, problem)
  end
end)

test("parameters are checked as those of policies are", function()
  test.equal(problem_of(good), false)
  test.check(problem_of(good, { size = 0 }):find("expected 1 to", 1, true))
  test.check(problem_of(good, { size = 1.5 }):find("a whole number", 1, true))
  test.check(problem_of(good, { size = "x" }):find("expected a number", 1, true))
  test.check(problem_of(good, { sise = 5 }):find("did you mean 'size'", 1, true))
  local unknown = select(2, pcall(layered, { { kind = "own_wndow", layers = 2 }, beside }))
  test.check(tostring(unknown):find("did you mean 'own_window'", 1, true), "%s", tostring(unknown))
end)

test("any damage to a file is accepted or an error that names the file", function()
  local texts = { '"x"', "-1", "{}", "nil", "1e300", "true", "function() end", "0 / 0", "ask", "p", "{ { {} } }" }
  local state = 7
  local function draw(n) -- Park and Miller's
    state = state * 16807 % 2147483647
    return state % n + 1
  end
  local words = {}
  for at, word in good:gmatch "()([%w_]+)" do words[#words + 1] = { at, word } end
  for _ = 1, tonumber(os.getenv "ROOFLUA_LAYER_FILES") or 150 do
    local each = words[draw(#words)]
    local text = good:sub(1, each[1] - 1) .. texts[draw(#texts)] .. good:sub(each[1] + #each[2])
    local problem, path = problem_of(text)
    if problem then
      test.check(problem:find(path, 1, true) or problem:find("attention", 1, true), "%s\n%s", problem, text)
      test.check(not problem:find "internal" and not problem:find "std::", "%s", problem)
    end
  end
end)

os.execute(("rm -r '%s'"):format(folder))
test.finish()
