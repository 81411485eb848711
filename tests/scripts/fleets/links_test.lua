-- Links that transfers of KV share: what a scenario says of them, what results hold, and what is refused.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local serve = require "rooflua.serve"
local sweep = require "rooflua.sweep"

local function scenario(changes)
  return scene({ seed = 3,
    replicas = { { role = "prefill", count = 2, node = 1 }, { role = "decode", count = 2, node = 2 } },
    router = "least_outstanding",
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 60, prompt_tokens = 1000,
      output_tokens = 20 } }, changes)
end

local function shared(bytes_per_s, more)
  local link = { bytes_per_s = bytes_per_s }
  for key, value in pairs(more or {}) do link[key] = value end
  return scenario { network = { path = { "nic" } }, links = { nic = link } }
end

test("over a link that is never full each request takes what it takes over a wire of its own", function()
  local own = serve.run(scenario { network = { bytes_per_s = 1e9 } }).summary
  local over = serve.run(scenario { network = { path = { "nic" }, bytes_per_s = 1e9 },
    links = { nic = { bytes_per_s = 1e15 } } }).summary
  test.equal(over.ttft_s.mean, own.ttft_s.mean)
  test.equal(over.e2e_s.max, own.e2e_s.max)
  test.equal(own.links, nil)
  test.equal(over.links[1].transfers, 60)
  test.equal(over.links[1].stretch_max, 1)
end)

test("bytes and the busiest wire are those of the transfers", function()
  local run = serve.run(shared(4e9))
  local link = run.summary.links[1]
  test.equal(link.name, "nic")
  test.near(link.bytes, 60 * 1000 * 131072, 1e-12)
  test.check(link.stretch_mean > 1.05 and link.stretch_max >= link.stretch_mean, "stretch %g", link.stretch_mean)
  -- One node sends all of it: over the run's length its wire carries so much of what it could.
  test.near(link.busiest_frac, link.bytes / (4e9 * run.summary.duration_s), 0.02)
end)

test("less bandwidth, longer stretches; a node's interface is shared, a replica's is not", function()
  local last = 0
  for _, bytes_per_s in ipairs { 64e9, 16e9, 4e9 } do
    local stretch = serve.run(shared(bytes_per_s)).summary.links[1].stretch_mean
    test.check(stretch > last, "%g at %g", stretch, bytes_per_s)
    last = stretch
  end
  local of_node = serve.run(shared(4e9)).summary.ttft_s.mean
  local of_replica = serve.run(shared(4e9, { per = "replica" })).summary.ttft_s.mean
  test.check(of_replica < of_node)
end)

test("a key path leads to a link", function()
  local runs = sweep.grid { scenario = shared(64e9), vary = { ["links.nic.bytes_per_s"] = { 64e9, 4e9 } } }
  test.check(runs[2].summary.ttft_s.mean > runs[1].summary.ttft_s.mean)
end)

test("a copy of a run goes on alike while transfers share a link", function()
  local live = serve.open(shared(2e9))
  live:run_until(1.5)
  local copy = live:fork()
  live:run()
  copy:run()
  test.equal(copy:result().summary.ttft_s.p99, live:result().summary.ttft_s.p99)
end)

test("why and the trace know how long the KV took", function()
  local slow = serve.open(shared(1e9), { remember = true })
  slow:run()
  local _, why = slow:why(10)
  test.check(why.transfer_s > 0.131 and why.transfer_s < 10, "%g", why.transfer_s)
end)

test("a transfer counts alike, whether its end is known at its start or not", function()
  local function times(more)
    local live = serve.open(scenario(more), { remember = true })
    live:run()
    local out = {}
    for id = 0, 59 do
      local _, why = live:why(id)
      out[#out + 1] = ("%d %.12g %.12g"):format(id, why.transfer_s, why.e2e_s)
    end
    return table.concat(out, "\n")
  end
  local over = times { network = { path = { "nic" }, bytes_per_s = 1e9 }, links = { nic = { bytes_per_s = 1e15 } } }
  test.equal(over, times { network = { bytes_per_s = 1e9 } })
end)

local wrong = {
  { { links = { nic = {} } }, "links.nic.bytes_per_s", "missing" },
  { { links = { nic = { bytes_per_s = 0 } } }, "links.nic.bytes_per_s", "bandwidth above 0" },
  { { links = { nic = { byte_per_s = 1 } } }, "links.nic", "did you mean 'bytes_per_s'" },
  { { links = { nic = { bytes_per_s = "fast" } } }, "links.nic.bytes_per_s", "expected a number" },
  { { links = { nic = { bytes_per_s = 1e9, per = "rack" } } }, "links.nic.per", "unknown per 'rack'" },
  { { links = { nic = { bytes_per_s = 1e9, per = "cluster", duplex = true } } }, "links.nic.duplex", "one wire" },
  { { links = { nic = 5 } }, "links.nic", "expected a table" },
  { { links = { { bytes_per_s = 1 } } }, "links", "expected names" },
  { { links = 5 }, "links", "expected a table" },
  { { network = { path = { "nick" } }, links = { nic = { bytes_per_s = 1e9 } } }, "network.path%[1%]",
    "did you mean 'nic'" },
  { { network = { path = { "nic" } } }, "network.path%[1%]", "there are no `links`" },
  { { network = { path = {} } }, "network.path", "names no link" },
  { { network = { path = "nic" }, links = { nic = { bytes_per_s = 1e9 } } }, "network.path", "expected a list" },
  { { network = { path = { 3 } } }, "network.path%[1%]", "expected the name of a link" },
  { { network = { within = { "nic" } }, links = { nic = { bytes_per_s = 1e9 } } }, "network.within", "path" },
  { { replicas = { { role = "prefill", node = 1.5 }, { role = "decode" } } }, "node", "whole" },
}

test("what is wrong is named by its key", function()
  for _, each in ipairs(wrong) do
    local ok, problem = pcall(serve.run, scenario(each[1]))
    test.check(not ok, "%s is accepted", each[2])
    test.check(tostring(problem):find(each[2]) and tostring(problem):find(each[3], 1, true), "%s", tostring(problem))
  end
end)

test("links that nothing takes, and nodes without links, are told", function()
  local function told(changes) return test.unread(scenario(changes)) end
  test.equal(told { network = { path = { "nic" } }, links = { nic = { bytes_per_s = 1 } } }, "")
  test.equal(told { network = { path = { "nic" } }, links = { nic = { bytes_per_s = 1 }, disk = { bytes_per_s = 1 } } },
    "links.disk: network.path does not name it")
  local two = { nic = { bytes_per_s = 1 }, nvlink = { bytes_per_s = 1, per = "replica" } }
  test.equal(told { network = { path = { "nic" }, within = { "nvlink" } }, links = two },
    "network.within: no prefill replica is on the node of a decode replica")
  test.equal(told { network = { path = { "nic" }, within = { "nvlink" } }, links = two,
    replicas = { { role = "prefill", node = 1 }, { role = "decode", node = 1 } } }, "")
  test.equal(told { network = { path = { "nvlink" } }, links = { nvlink = two.nvlink } },
    "replicas[1].node: no link on network.path is of nodes; replicas[2].node: no link on network.path is of nodes")
  test.equal(told {}, "replicas[1].node: nothing goes over links; replicas[2].node: nothing goes over links")
  test.equal(told { replicas = 2, links = { nic = { bytes_per_s = 1 } } },
    "links.nic: no replica has the role prefill or decode, so no KV is sent")
  test.equal(told { network = { path = { "nic" } }, links = { nic = { bytes_per_s = 1 }, disk = { bytes_per_s = 1 } },
    replicas = { { role = "prefill" }, { role = "decode" } } }, "links.disk: network.path does not name it")
end)

test.finish()
