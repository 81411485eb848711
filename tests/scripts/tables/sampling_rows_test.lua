-- Rows of sampling and of copies over the bus: each word answers with its own rows, and never with those of another
-- kind of kernel, whatever a table holds.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"

local table_folder = dofile "tests/scripts/tables/folder.lua"

--- A database of these files: {name = text}.
local function open(files, hardware) return table_folder.open(files, { hardware = hardware }) end

local head = "method,tokens,vocab_size,latency_us\n"
local methods = { "greedy", "random", "top_p" }

local function sampled(database, method, tokens, vocabulary)
  local mfu, estimate = database:lookup { op = "sampling", method = method, tokens = tokens, vocab_size = vocabulary }
  test.equal(mfu, nil)
  return estimate
end

test("a row of sampling is measured, between rows of tokens and of vocabularies there is an interpolation", function()
  local rows = { head }
  for i, method in ipairs(methods) do
    for _, tokens in ipairs { 1, 16, 256 } do
      for _, vocabulary in ipairs { 32000, 128000 } do
        rows[#rows + 1] = ("%s,%d,%d,%.12g\n"):format(method, tokens, vocabulary, i * (10 + tokens * vocabulary / 1e5))
      end
    end
  end
  local database = open { ["sampling.csv"] = table.concat(rows) }
  test.equal(database:report().errors, 0)
  test.equal(database:measures "sampling", true)
  for i, method in ipairs(methods) do
    local found = sampled(database, method, 16, 128000)
    test.equal(found.evidence, "measured", method)
    test.near(found.latency_s, i * (10 + 16 * 1.28) * 1e-6, 1e-12, method)
    test.equal(found.bytes, 2 * 16 * 128000, method)
    local between = sampled(database, method, 64, 64000)
    test.equal(between.evidence, "interpolated", method)
    test.check(between.latency_s > sampled(database, method, 16, 32000).latency_s, method)
    test.check(between.latency_s < sampled(database, method, 256, 128000).latency_s, method)
  end
end)

test("no method of sampling stands in for another one, and without rows there is no price", function()
  for _, there in ipairs(methods) do
    local database = open { ["sampling.csv"] = head .. there .. ",16,32000,20\n" }
    for _, asked in ipairs(methods) do
      if asked == there then
        test.equal(sampled(database, asked, 16, 32000).evidence, "measured")
      else
        test.raises("only tables price this op", function() sampled(database, asked, 16, 32000) end)
      end
    end
  end
  test.raises("only tables price this op", function() sampled(rooflua.mfu.open "l40s", "greedy", 1, 32000) end)
end)

test("sampling is borrowed from a similar GPU, and a higher bandwidth makes it faster", function()
  local borrower = rooflua.mfu.open { hardware = "h100-nvl" }
  local lender = rooflua.mfu.open { hardware = "h100-sxm" }
  local lent = sampled(borrower, "greedy", 64, 131072)
  test.equal(lent.evidence, "stand_in")
  local lent_s = lent.latency_s
  local ratio = lender.hardware.memory_bytes_per_s / borrower.hardware.memory_bytes_per_s
  local lent_over_own = lent_s / sampled(lender, "greedy", 64, 131072).latency_s
  test.check(lent_over_own < 1 and lent_over_own >= ratio, "%g", lent_over_own)
end)

local copies = { "copy", "read", "write" }
local over_bus = { "to_host", "from_host" }

local function moved(database, kernel)
  local _, estimate = database:lookup { op = "memory", kernel = kernel, bytes = 2 ^ 20 }
  return estimate
end

test("copies over the bus and kernels of the device never answer for each other", function()
  local on_device = open { ["memory.csv"] = "op,bytes,latency_us\ncopy,1048576,5\n" }
  for _, kernel in ipairs(copies) do
    test.equal(moved(on_device, kernel).evidence, kernel == "copy" and "measured" or "stand_in", kernel)
  end
  for _, kernel in ipairs(over_bus) do
    test.raises("only tables price them", function() moved(on_device, kernel) end)
  end
  local on_bus = open { ["memory.csv"] = "op,bytes,latency_us\nto_host,1048576,50\n" }
  for _, kernel in ipairs(copies) do test.equal(moved(on_bus, kernel).evidence, "modelled", kernel) end
  test.equal(moved(on_bus, "to_host").evidence, "measured")
  local query = { op = "memory", kernel = "to_host", bytes = 2 ^ 20 }
  local tree = rooflua.cost.explain(function() return rooflua.cost.lookup(on_bus, query, 1, "copy") end)
  test.equal(tree.rows[1].bound, "link")
  test.equal(moved(on_bus, "from_host").evidence, "stand_in")
end)

test("a copy over the bus is not compared with the bandwidth of the memory", function()
  local function notes(kernel)
    local text = "op,bytes,latency_us,latency_us_p10,latency_us_p90\n" .. kernel .. ",1073741824,1,1,1\n"
    return open({ ["memory.csv"] = text }):report().text
  end
  for _, kernel in ipairs(copies) do test.check(notes(kernel):find "above_bandwidth", kernel) end
  for _, kernel in ipairs(over_bus) do test.check(not notes(kernel):find "above_bandwidth", kernel) end
end)

test("a comparison and a leave-one-out pass over rows that nothing else can price", function()
  local reference = open { ["memory.csv"] = "op,bytes,latency_us\ncopy,1048576,5\nto_host,1048576,50\n",
    ["sampling.csv"] = head .. "greedy,16,32000,20\n" }
  local compared = rooflua.mfu.open("l40s"):compare(reference)
  test.equal(#compared, 1)
  test.equal(compared[1].rows, 1)
  local own = reference:compare(reference)
  test.equal(#own, 2)
  local rows = head .. "greedy,16,32000,20\ngreedy,64,32000,30\nrandom,16,32000,40\n"
  local left = open({ ["sampling.csv"] = rows }):leave_one_out { table = "sampling" }
  test.equal(#left, 2)  -- the row of random has no other of its method
end)

test("the shipped rows of sampling answer on the H100", function()
  local database = rooflua.mfu.open "h100-sxm"
  for method, us in pairs { greedy = 38, random = 188.4, top_p = 1415 } do
    local found = sampled(database, method, 64, 131072)
    test.equal(found.evidence, "measured", method)
    test.check(found.latency_s > 0.5e-6 * us and found.latency_s < 2e-6 * us, "%s: %g", method, found.latency_s)
  end
end)

table_folder.remove()
test.finish()
