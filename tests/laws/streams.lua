-- Numbers of every distribution and of the engine's own mathematics, to the last bit: for tests/laws/same_bytes.sh.
local rooflua = require "rooflua"
local random = require "rooflua.random"

local function exact(number) return ("%a"):format(number) end

local draws = {
  uniform = function(s) return s:uniform(-3, 5) end,
  exponential = function(s) return s:exponential(0.7) end,
  gamma = function(s) return s:gamma(0.4, 2) + s:gamma(7.5, 0.1) end,
  weibull = function(s) return s:weibull(0.6, 3) end,
  normal = function(s) return s:normal(10, 4) end,
  lognormal = function(s) return s:lognormal(5, 0.7) end,
  pareto = function(s) return s:pareto(1.3, 2) end,
  poisson = function(s) return s:poisson(3) + s:poisson(400) end,
  integer = function(s) return s:integer(-7, 1e9) end,
}
local names = {}
for name in pairs(draws) do names[#names + 1] = name end
table.sort(names)
for _, seed in ipairs { 0, 1, 20261121 } do
  local streams = random.streams(seed)
  for _, name in ipairs(names) do
    local stream = streams:stream(name)
    for i = 1, 500 do print(seed, name, i, exact(draws[name](stream))) end
  end
end

-- Kernels without a table: what the model says of shapes that nobody chose.
local hardware = { "h100-sxm", "l40s", "a100-sxm-80gb" }
local shapes = random.streams(3):stream "shapes"
for _, gpu in ipairs(hardware) do
  local db = rooflua.mfu.open(gpu)
  for i = 1, 300 do
    local m, k, n = shapes:integer(1, 9000), shapes:integer(64, 12000), shapes:integer(64, 12000)
    print(gpu, i, m, k, n, exact((rooflua.cost.gemm(db, m, k, n, "bf16"))))
  end
end
