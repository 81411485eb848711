-- Items in files of recorded requests: what is read, what a wrong one says, and that a file which a run wrote replays
-- as that run did. Embeddings of encoders over declared links.
local test = dofile "tests/scripts/harness.lua"
local measure = require "rooflua.measure"
local serve = require "rooflua.serve"

local image_tokens = 40 * 22 -- of 1280 x 720 pixels: sides in units of 32

local function scenario(more)
  local out = { model = "qwen3-vl-30b-a3b", hardware = "h200-sxm", engine = "vllm 0.24", seed = 3 }
  for key, value in pairs(more) do out[key] = value end
  return out
end

local function replayed(path, more)
  local given = more or {}
  given.workload = require "workloads.trace" { path = path }
  return measure.summary(serve.run(scenario(given)))
end

local rows = { { 0, 1000, 10, '[[1280, 720]]', '' }, { 0.5, 200, 10, '', '' },
  { 1, 1000, 10, '[{"width": 1280, "height": 720, "id": 7}]', '' },
  { 2, 1000, 10, '[{"width": 1280, "height": 720, "id": 7}]', '' },
  { 3, 3000, 10, '', '[{"frames": 4, "width": 640, "height": 480}]' } }

local function csv()
  local lines = { "arrival_s,prompt_tokens,output_tokens,images,video" }
  local function cell(text) return text == "" and "" or '"' .. text:gsub('"', '""') .. '"' end
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("%g,%d,%d,%s,%s"):format(row[1], row[2], row[3], cell(row[4]), cell(row[5]))
  end
  return test.file("items.csv", table.concat(lines, "\n") .. "\n")
end

local function jsonl()
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = ('{"arrival_s": %g, "prompt_tokens": %d, "output_tokens": %d'):format(row[1], row[2], row[3])
      .. (row[4] ~= "" and ', "images": ' .. row[4] or "") .. (row[5] ~= "" and ', "video": ' .. row[5] or "") .. "}"
  end
  return test.file("items.jsonl", table.concat(lines, "\n") .. "\n")
end

test("items of a trace are a part of its prompts, and what has an id comes again", function()
  local found = replayed(csv())
  test.equal(found.prompt_tokens, 6200)
  test.equal(found.encoder.items, 4)
  test.equal(found.encoder.encoded, 3) -- the KV of the fourth prompt is that of the third
  local other = replayed(jsonl())
  test.equal(other.encoder.encode_s, found.encoder.encode_s)
  test.equal(other.e2e_s.mean, found.e2e_s.mean)
end)

test("a trace without items is read as it was", function()
  local path = test.file("plain.csv", "arrival_s,prompt_tokens,output_tokens,images\n0,100,5,\n1,100,5,[]\n")
  local found = replayed(path)
  test.equal(found.encoder, nil)
  test.equal(found.completed, 2)
end)

test("an item that cannot be read is an error with its line", function()
  local function wrong(line, part)
    local path = test.file("wrong.csv", "arrival_s,prompt_tokens,output_tokens,images,audio_s\n0,2000,5,,\n"
      .. line .. "\n")
    test.raises(part, function() replayed(path) end)
    test.raises("wrong.csv:3", function() replayed(path) end)
  end
  wrong('1,2000,5,"[[1280",', "images")
  wrong('1,2000,5,1280x720,', "images")
  wrong('1,2000,5,"{""width"": 3}",', "expected a list")
  wrong('1,2000,5,"[[1280, -4]]",', "height")
  wrong('1,2000,5,"[[1280, 720, 3]]",', "3")
  wrong('1,2000,5,,"[3]"', "takes no audio")
  wrong(('1,%d,5,"[[1280, 720]]",'):format(image_tokens - 1), "more than the 879 of its prompt")
end)

test("a file of requests that a run wrote replays with the same items", function()
  local path = test.folder() .. "/requests.csv"
  local own = test.file("run.lua", [[return { rooflua = 1, model = "qwen3-vl-30b-a3b", hardware = "h200-sxm",
    engine = "vllm 0.24", seed = 3, workload = require "workloads.pictures" { rate_per_s = 8, num_requests = 12,
      prompt_tokens = 50, output_tokens = 5, images = { count = 2, sizes = { { 1280, 720 },
        { 320, 240, frames = 4 } } } } }]])
  local text, status = test.run("run", own, "--quiet", "--requests", path)
  test.equal(status, 0, text)
  local file = assert(io.open(path))
  local header = file:read "*l"
  file:close()
  test.has(header, "images,audio_s,video")
  local first = measure.summary(serve.run(scenario { workload = require "workloads.pictures" { rate_per_s = 8,
    num_requests = 12, prompt_tokens = 50, output_tokens = 5, images = { count = 2, sizes = { { 1280, 720 },
      { 320, 240, frames = 4 } } } } }))
  local again = replayed(path)
  test.equal(again.prompt_tokens, first.prompt_tokens)
  test.equal(again.encoder.items, first.encoder.items)
  test.equal(again.encoder.encoded, first.encoder.encoded)
  test.near(again.ttft_s.mean, first.ttft_s.mean, 0.2)
end)

-- Links -------------------------------------------------------------------------------------------------------------

local function pool(more)
  local given = { replicas = { { count = 2 }, { encoder = true, count = more and more.encoders or 1 } },
    router = require "routers.round_robin" {},
    workload = require "workloads.pictures" { rate_per_s = 8, num_requests = 24, prompt_tokens = 200,
      output_tokens = 20, images = { { 1280, 720 } } } }
  for key, value in pairs(more or {}) do given[key] = key ~= "encoders" and value or nil end
  return measure.summary(serve.run(scenario(given)))
end

local embedding_bytes = 2 * 2048 * 4 -- Qwen3-VL: a vector for the first layer and three for others

test("embeddings go over declared links, as fast as these are", function()
  local function over(bytes_per_s, more)
    return pool { links = { nic = { bytes_per_s = bytes_per_s, alpha_s = 0.001, per = more or "node" } },
      network = { path = { "nic" } } }
  end
  local own = pool { network = { bytes_per_s = 1e9, alpha_s = 0.001 } }
  local fast, slow = over(1e9), over(1e8)
  test.equal(fast.links[1].transfers, 24)
  test.equal(fast.links[1].bytes, 24 * image_tokens * embedding_bytes)
  test.near(fast.ttft_s.mean, own.ttft_s.mean, 0.02) -- one interface, with nothing to share
  test.check(slow.ttft_s.mean > fast.ttft_s.mean + 0.9 * image_tokens * embedding_bytes * (1 / 1e8 - 1 / 1e9),
    "%g and %g s", slow.ttft_s.mean, fast.ttft_s.mean)
  test.check(over(2e8, "cluster").links[1].stretch_max > 1, "requests share a link of the cluster")
end)

test("links of encoders are read, and a node of an encoder is one", function()
  local unread = test.unread { model = "qwen3-vl-30b-a3b", hardware = "h200-sxm", engine = "vllm 0.24",
    links = { nic = { bytes_per_s = 1e9 } }, network = { path = { "nic" } },
    replicas = { { count = 2, node = 1 }, { encoder = true, node = 2 } },
    workload = require "workloads.pictures" { rate_per_s = 8, images = { { 64, 64 } } } }
  test.check(not unread:find "links" and not unread:find "node" and not unread:find "network", unread)
end)

test.finish()
