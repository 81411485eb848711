-- Collectives follow from where GPUs stand: over the links of a node, the bus of a host, the network between nodes.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local application = require "rooflua.applied.application"
local policy, serve = rooflua.policy, rooflua.serve
local Reader = require "rooflua.scenario.reader"

local function given_of(hardware, deployment, more)
  local out = { model = "llama-3.1-70b", hardware = hardware, deployment = deployment, engine = "vllm 0.19",
    workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, prompt_tokens = 64,
      output_tokens = 8 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

--- Names of the corrections of a scenario, and its notes.
local function applied(...)
  local found, names = application.of(Reader.new "made up", given_of(...), true), {}
  for i, each in ipairs(found.given.corrections or {}) do
    names[i] = policy.is_instance(each) and policy.describe(each).name or each
  end
  return table.concat(names, " "), table.concat(found.notes, "\n")
end

test("ranks of two nodes cross the network, as far as their GPU states one", function()
  test.equal(applied("h100-sxm", { tp = 8 }), "")
  test.equal(applied("h100-sxm", { tp = 16 }), "network")
  test.equal(applied("gb200", { tp = 16 }), "")
  test.equal(applied("gb10", { tp = 2 }), "network")
  test.check(select(2, applied("gb10", { tp = 2 })):find("2 ranks cross the network between nodes of 1 GPU", 1, true))
  local names, notes = applied("h20", { tp = 16 })
  test.equal(names, "")
  test.check(notes:find("16 ranks are priced as in one node: nodes have 8 GPUs, and h20 states no network", 1, true))
end)

test("GPUs without links of their own share the bus of their host; one alone, and links, cost nothing", function()
  test.equal(applied("rtx-4090", { tp = 2 }), "host_bus")
  test.equal(applied("rtx-4090", { tp = 1 }), "")
  test.equal(applied("gh200", { tp = 2 }), "")
  test.equal(applied("rtx-4090", { tp = 2 }, { corrections = { "host_bus" } }), "host_bus", "the scenario's holds")
end)

--- Seconds of a token.
local function tpot_s(...) return serve.run(given_of(...)).summary.tpot_s.mean end

test("a rank over the bus costs 3.1 us, or 5.9 through the host's memory, in each all-reduce", function()
  local function with(peers) return { corrections = { require "corrections.host_bus" { peers = peers } } } end
  local more_s = tpot_s("a40", { tp = 4 }, with "no") - tpot_s("a40", { tp = 4 }, with "yes")
  test.near(more_s, 80 * 2 * 4 * 2.8e-6, 0.03)
  test.equal(tpot_s("a40", { tp = 4 }), tpot_s("a40", { tp = 4 }, with "yes"))
  test.equal(tpot_s("l40s", { tp = 4 }), tpot_s("l40s", { tp = 4 }, with "no"), "a table has them")
end)

test("whether GPUs copy to each other is a figure of the GPU, which a changed one keeps", function()
  local spec = rooflua.spec
  test.equal(spec.hardware("a40").peer_copies, true)
  test.equal(spec.hardware({ from = "rtx-4090", memory_gb = 48 }).peer_copies, false)
  test.equal(spec.hardware({ from = "rtx-4090", peer_copies = true }).peer_copies, true)
  local function staged(peers)
    return tpot_s("rtx-3090", { tp = 4, weights = "int4_group128" }, { corrections = { require "corrections.host_bus" {
      peers = peers } } })
  end
  test.equal(staged "auto", staged "no")
  test.at_least(staged "no", 1.001 * staged "yes")
end)

test("a second node makes small batches slower, by the latency of each all-reduce", function()
  local function with(latency_s)
    return { corrections = { require "corrections.network" { latency_s = latency_s, single_latency_s = latency_s } } }
  end
  test.equal(tpot_s("h100-sxm", { tp = 16 }), tpot_s("h100-sxm", { tp = 16 }, with(57e-6)), "the default")
  test.near(tpot_s("h100-sxm", { tp = 16 }) - tpot_s("h100-sxm", { tp = 16 }, with(0)), 161 * 57e-6, 0.03)
end)

test.finish()
