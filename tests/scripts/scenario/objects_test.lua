-- Objects of the engine in a scenario: they are of its model and GPU, and what cannot be read stays so.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, spec, mfu = rooflua.serve, rooflua.spec, rooflua.mfu

local function run(more)
  local given = scene({ hardware = "h200-sxm",
    workload = require "workloads.poisson" { num_requests = 2, rate_per_s = 10, prompt_tokens = 50,
      output_tokens = 5 } }, more)
  local ok, problem = pcall(serve.run, given)
  return ok and "" or problem
end

test("a Deployment of another model or GPU is refused", function()
  local function of(model, hardware) return spec.deployment { model = model, hardware = hardware } end
  test.equal(run { deployment = of("llama-3.1-8b", "h200-sxm") }, "")
  test.equal(run { deployment = of("llama-3.1-8b", "h200-sxm"), mfu = { model = { gemm_math = 0.5 } } }, "")
  for _, wrong in ipairs { { "qwen3-8b", "h200-sxm" }, { "llama-3.1-8b", "h100-sxm" } } do
    test.check(run { deployment = of(wrong[1], wrong[2]) }:find("deployment: is a Deployment of " .. wrong[1] .. " on "
      .. wrong[2] .. ", and this scenario has llama-3.1-8b on h200-sxm", 1, true))
  end
end)

test("a Database of another GPU is refused", function()
  test.equal(run { mfu = mfu.open "h200-sxm" }, "")
  test.check(run { mfu = mfu.open "h100-sxm" }:find("mfu: is a Database of h100-sxm, and this scenario has h200-sxm",
    1, true))
  local half = spec.hardware { from = "h200-sxm", memory_bytes_per_s = 2e12 }
  test.check(run { hardware = half, mfu = mfu.open "h200-sxm" } ~= "")
  test.equal(run { hardware = half, mfu = mfu.open { gpu = "h200-sxm", hardware = half } }, "")
end)

test("prefill and decode replicas have one model", function()
  local function of(decode, ...)
    return run { replicas = { { role = "prefill" }, { role = "decode", model = decode }, ... }, router = "round_robin" }
  end
  test.equal(of "llama-3.1-8b", "")
  test.check(of "qwen3-8b":find("replicas[2].model: a decode replica of qwen3-8b beside a prefill replica of "
    .. "llama-3.1-8b", 1, true))
  test.check(of("llama-3.1-8b", { role = "prefill", model = "qwen3-8b" }):find("replicas[3].model", 1, true))
end)

local fixtures = "tests/fixtures/"
local folders = {
  { folder = "mfu_denominators", layout = "infersim", gpu = "h100", files = { "mha/prefill/h100/32-8-128.csv",
    "mha/decode/h100/32-8-128-tp1.csv", "gemm/h100/data.csv" } },
  { folder = "measured", files = { "gemm_bf16.csv", "grouped_gemm_bf16.csv" } },
}

local function ask_all(db)
  return {
    function() return select(2, db:gemm(64, 4096, 4096)).latency_s end,
    function() return select(2, db:prefill(32, 8, 128, 512, 1)).latency_s end,
    function() return select(2, db:decode(32, 8, 128, 16, 1000, 1)).latency_s end,
    function()
      return select(2, db:lookup { op = "grouped_gemm", m = 64, k = 2048, n = 768, experts = 8,
        experts_per_token = 2 }).latency_s
    end,
  }
end

test("a table that cannot be read is an error of every question that needs it, with every lookup", function()
  local errors = 0
  for _, each in ipairs(folders) do
    for _, file in ipairs(each.files) do
      local path = os.tmpname()
      os.remove(path)
      os.execute(("cp -r %s%s %s"):format(fixtures, each.folder, path))
      local bad = assert(io.open(path .. "/" .. file, "a"))
      bad:write "x,y,z,1,2,3,4,5,6,7,8,9,10\n"
      bad:close()
      for _, lookup in ipairs(mfu.lookups()) do
        local ok, db = pcall(mfu.open, { path = path, layout = each.layout, gpu = each.gpu, lookup = lookup,
          hardware = "h100-sxm" })
        for i, ask in ipairs(ok and ask_all(db) or {}) do
          local first, said = pcall(ask)
          if not first and tostring(said):find(path, 1, true) then errors = errors + 1 end
          for _ = 1, 2 do
            local again, now = pcall(ask)
            test.equal(tostring(again) .. tostring(now), tostring(first) .. tostring(said),
              ("%s, %s, question %d"):format(file, lookup, i))
          end
        end
      end
      os.execute("rm -rf " .. path)
    end
  end
  test.at_least(errors, 20)
end)

test.finish()
