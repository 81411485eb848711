-- Workloads with images and keys of encoders: what scenes.lua has of them.
local encoders = {}

local sees = "qwen3-vl-30b-a3b"

--- Requests with images of two sizes, some of which come again.
local function pictures()
  return require "workloads.pictures" { rate_per_s = 20, num_requests = 30, prompt_tokens = 200, output_tokens = 20,
    images = { { 1280, 720 }, { 640, 480 } }, distinct = 4 }
end

local function scene(served, more)
  local out = { model = sees, steps = "kernels", workload = pictures(), deployment = { tp = 2 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return served(out)
end

--- Scenes of the workloads, and values of their parameters.
function encoders.declare(effects, served)
  local function of(one) return scene(served, { workload = one }) end
  local images = { { { 320, 240 } } }
  for name, needs in pairs { pictures = { num_requests = 30 }, with_pictures = {} } do
    effects.own["workloads." .. name] = { of }
    effects.needs["workloads." .. name] = needs
    effects.values["workloads." .. name .. ".images"] = images
    effects.values["workloads." .. name .. ".distinct"] = { 1 }
  end
  effects.needs["workloads.pictures.distinct"] = { num_requests = 30, images = { { 1280, 720 } } }
  effects.own["workloads.pictures.prefix_groups"] = { of }
  effects.needs["workloads.pictures.prefix_groups"] = { prefix_tokens = 300, num_requests = 40 }
  effects.own["workloads.with_pictures.behind"] = { function(one) -- chunks end where images stand
    return scene(served, { workload = one, scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 512 } })
  end }
  effects.own["candidates.ladder.encoders"] = { function(one)
    return { kind = "plan", model = sees, engine = "vllm 0.24", seed = 1, network = { bytes_per_s = 50e9 },
      workload = require "workloads.pictures" { prompt_tokens = 100, output_tokens = 10, images = { { 1280, 720 } } },
      plan = { load = { rate_per_s = 30 }, slo = { ttft_s_p99 = 0.5 }, requests = 60, replicates = 0,
        gpus = { { "h200-sxm", most = 6, price_per_hour = 4 } }, candidates = one } }
  end }
  effects.needs["candidates.ladder.encoders"] = { tp = { 1 }, ep = { 1 }, max_num_seqs = { 64 },
    max_num_batched_tokens = { 2048 } }
  effects.values["candidates.ladder.encoders"] = { { 1 } }
  effects.values["workloads.with_pictures.of"] = { require "workloads.constant" { num_requests = 20 } }
end

--- Adds the keys: values that change a result.
function encoders.add(add, served)
  add(function() return scene(served) end, { ["deployment.encoder"] = { { mode = "data" }, { budget_tokens = 1 },
    { item_s = 0.01 }, { pixel_s = 0 } } })
end

return encoders
