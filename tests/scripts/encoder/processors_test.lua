-- Tokens of items by their size, against references that are written another way: the sources scale by square roots of
-- doubles, and the references look for the largest whole number that fits, in whole numbers alone. Sizes are drawn; for
-- two families examples that documentation states stand beside them.
local test = dofile "tests/scripts/harness.lua"
local random = require "rooflua.random"
local named_policies = require "rooflua.sandbox.named_policies"
local processors = require "rooflua.border.processors"
local spec = require "rooflua.spec"

local sizes_of_each = 200

local function processor(name) return named_policies.instance("processors", name) end

--- Sizes from small to large, of all ratios that processors take.
local function sizes(seed)
  local stream, out = random.streams(seed):stream "sizes", {}
  for i = 1, sizes_of_each do
    local area, ratio = 2 ^ (stream:uniform() * 14 + 9), 2 ^ (stream:uniform() * 6 - 3)
    out[i] = { math.max(1, math.floor(math.sqrt(area * ratio))), math.max(1, math.floor(math.sqrt(area / ratio))) }
  end
  return out
end

--- The largest n from 0 on with fits(n).
local function largest(fits)
  local high = 1
  while fits(high) do high = high * 2 end
  local low = 0
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if fits(middle) then low = middle else high = middle end
  end
  return low
end

--- Whole units nearest to a length, in whole numbers: of two the even one.
local function nearest_units(length, unit)
  local whole, rest = math.floor(length / unit), length % unit
  if 2 * rest == unit then return whole % 2 == 0 and whole or whole + 1 end
  return 2 * rest > unit and whole + 1 or whole
end

--- Units along both sides: of n units of f pixels, n f <= side sqrt(most / (frames w h)) is n n f f frames w h <=
--- side side most.
local function smart_units(w, h, f, least, most, frames, counted, least_units)
  frames, counted, least_units = frames or 1, counted or frames or 1, least_units or 0
  local a, b = math.max(least_units, nearest_units(w, f)), math.max(least_units, nearest_units(h, f))
  local pixels = counted * a * f * b * f
  local function down(side)
    return math.max(1, largest(function(n) return n * n * f * f * frames * w * h <= side * side * most end))
  end
  local function up(side)
    return 1 + largest(function(n) return n > 0 and n * n * f * f * frames * w * h < side * side * least end)
  end
  if pixels > most then return down(w), down(h) end
  if pixels < least then return up(w), up(h) end
  return a, b
end

local function sum(rows)
  local out = 0
  for _, n in ipairs(rows) do out = out + n end
  return out
end

--- Each drawn size against a reference that returns tokens and patches.
local function compare(name, seed, shape, reference)
  local own = processor(name)
  for _, size in ipairs(sizes(seed)) do
    local w, h = size[1], size[2]
    local tokens, rows = own:image(w, h, shape)
    local expected, patches = reference(w, h)
    test.equal(tokens, expected, ("%s %dx%d: tokens"):format(name, w, h))
    test.equal(sum(rows), patches, ("%s %dx%d: patches"):format(name, w, h))
  end
end

local function shape_of(patch_size, merge, patch_frames)
  return { patch_size = patch_size, merge = merge, patches_per_token = merge * merge, patch_frames = patch_frames or 1 }
end

test("Qwen2-VL, Qwen3-VL and MiniMax-M3 scale within bounds on pixels", function()
  for name, about in pairs { qwen2_vl = { 14, 3136, 12845056, 0 }, qwen3_vl = { 16, 65536, 16777216, 0 },
    minimax_m3 = { 14, 3136, 451584, 1 } } do
    compare(name, 7, shape_of(about[1], 2, 2), function(w, h)
      local a, b = smart_units(w, h, 2 * about[1], about[2], about[3], 1, 1, about[4])
      return a * b, 4 * a * b
    end)
  end
end)

test("videos of Qwen3-VL share their bounds, those of Qwen2-VL have them for each frame", function()
  local stream = random.streams(11):stream "frames"
  for _, size in ipairs(sizes(11)) do
    local w, h, frames = math.max(32, size[1]), math.max(32, size[2]), 2 + math.floor(stream:uniform() * 60)
    local layers = math.ceil(frames / 2)
    local a, b = smart_units(w, h, 32, 4096, 25165824, frames, 2 * nearest_units(frames, 2))
    local tokens, rows = processor "qwen3_vl":video(frames, w, h, shape_of(16, 2, 2))
    test.equal(tokens, layers * a * b, ("qwen3_vl %d of %dx%d"):format(frames, w, h))
    test.equal(#rows, layers)
    test.equal(rows[1], 4 * a * b)
    a, b = smart_units(w, h, 28, 128 * 784, 768 * 784)
    tokens = processor "qwen2_vl":video(frames, w, h, shape_of(14, 2, 2))
    test.equal(tokens, layers * a * b, ("qwen2_vl %d of %dx%d"):format(frames, w, h))
  end
end)

--- Tokens of a picture that Kimi scales to at most so many patches.
local function kimi_tokens(w, h, most)
  local across, down = math.max(1, math.floor(w / 14)), math.max(1, math.floor(h / 14))
  local function scaled(side, other)
    local by_all = largest(function(n) return n * n * across * down <= side * side * most end)
    return math.max(1, math.min(side, 7168, by_all, math.floor(7168 * side / other)))
  end
  return math.ceil(scaled(w, h) / 28) * math.ceil(scaled(h, w) / 28)
end

test("Kimi scales down to a number of patches, and four frames become one", function()
  compare("kimi", 13, shape_of(14, 2), function(w, h)
    local tokens = kimi_tokens(w, h, 16384)
    return tokens, 4 * tokens
  end)
  for frames, size in ipairs(sizes(17)) do
    local tokens, rows = processor "kimi":video(frames, size[1], size[2], shape_of(14, 2))
    local each = kimi_tokens(size[1], size[2], 4096)
    test.equal(tokens, math.ceil(frames / 4) * each)
    test.equal(sum(rows), frames * 4 * each)
  end
end)

test("every image of Gemma 3 has 256 tokens and four marks", function()
  compare("gemma3", 19, shape_of(14, 4), function() return 260, 4096 end)
end)

test("Gemma 4 fills 280 tokens as far as whole ones fit", function()
  -- Where whole tokens fit exactly the source's doubles decide: 110 x 77 pixels could be 20 x 14 tokens, and are 19 x
  -- 14.
  test.equal((processor "gemma4":image(110, 77, shape_of(16, 3))), 19 * 14 + 2)
  compare("gemma4", 37, shape_of(16, 3), function(w, h)
    local function units(side, other) -- n 48 <= side sqrt(2520 256 / (w h)), so n n 48 48 other <= side 2520 256
      return largest(function(n) return n * n * 2304 * other <= side * 645120 end)
    end
    local a, b = units(w, h), units(h, w)
    if a == 0 then a, b = 1, math.min(280, math.floor(h / w)) end
    if b == 0 then a, b = math.min(280, math.floor(w / h)), 1 end
    return a * b + 2, 2520
  end)
end)

test("Pixtral keeps a size up to 1,540 pixels, and marks each line", function()
  compare("pixtral", 29, shape_of(14, 2), function(w, h)
    local long = math.max(w, h)
    if long > 1540 then w, h = math.floor(1540 * w / long), math.floor(1540 * h / long) end
    local a, b = math.floor((w + 27) / 28), math.floor((h + 27) / 28)
    return a * b + b, 4 * a * b
  end)
end)

--- Tiles of Llama 4: all grids in a list, sorted as the source chooses; scales are compared as products.
local function llama4_tiles(w, h)
  local grids = {}
  for tiles = 1, 16 do
    for a = 1, tiles do
      if tiles % a == 0 then
        local b = tiles / a
        -- min(336 a / w, 336 b / h) as a number over w h
        grids[#grids + 1] = { scale = math.min(336 * a * h, 336 * b * w), tiles = tiles }
      end
    end
  end
  local one = w * h
  table.sort(grids, function(x, y)
    if (x.scale >= one) ~= (y.scale >= one) then return x.scale >= one end
    if x.scale ~= y.scale then return (x.scale < y.scale) == (x.scale >= one) end
    return x.tiles < y.tiles
  end)
  return grids[1].tiles
end

test("Llama 4 takes the grid of tiles that changes the size least", function()
  compare("llama4", 31, shape_of(14, 2), function(w, h)
    local tiles = llama4_tiles(w, h)
    if tiles == 1 then return 144 + 3, 577 end
    return 145 * tiles + 147, 577 * (tiles + 1)
  end)
end)

test("an image of GLM-V counts as two frames, and frames of a video share their bounds", function()
  local function grown(w, h) -- a side below 28 pixels: both grow
    if w >= 28 and h >= 28 then return w, h end
    local scale = math.max(28 / w, 28 / h)
    return math.floor(w * scale), math.floor(h * scale)
  end
  local function sides(w, h, frames, most)
    w, h = grown(w, h)
    return smart_units(w, h, 28, 12544, most, frames, 2 * nearest_units(frames, 2))
  end
  compare("glm4v", 41, shape_of(14, 2, 2), function(w, h)
    local a, b = sides(w, h, 2, 11760000)
    return a * b, 4 * a * b
  end)
  local stream = random.streams(43):stream "frames"
  for _, size in ipairs(sizes(43)) do
    local frames = 2 + math.floor(stream:uniform() * 60)
    local a, b = sides(size[1], size[2], frames, 47040000)
    local tokens, rows = processor "glm4v":video(frames, size[1], size[2], shape_of(14, 2, 2))
    test.equal(tokens, math.ceil(frames / 2) * a * b, ("glm4v %d of %dx%d"):format(frames, size[1], size[2]))
    test.equal(#rows, math.ceil(frames / 2))
  end
end)

--- Tiles of InternVL: grids in the order of their size; the distance of ratios w / h and a / b as a fraction over h b.
local function internvl_tiles(w, h)
  local grids = {}
  for a = 1, 12 do
    for b = 1, math.floor(12 / a) do
      grids[#grids + 1] = { a = a, b = b, above = math.abs(w * b - a * h), below = b }
    end
  end
  table.sort(grids, function(x, y) return x.a * x.b < y.a * y.b or x.a * x.b == y.a * y.b and x.a < y.a end)
  local best = grids[1]
  for i = 2, #grids do
    local left, right = grids[i].above * best.below, best.above * grids[i].below
    local is_half_full = 2 * w * h > 448 * 448 * grids[i].a * grids[i].b
    if left < right or left == right and is_half_full then best = grids[i] end
  end
  return best.a * best.b
end

test("InternVL takes the grid of tiles whose ratio is nearest, and a copy", function()
  compare("internvl", 47, shape_of(14, 2), function(w, h)
    local tiles = internvl_tiles(w, h)
    local all = tiles > 1 and tiles + 1 or 1
    return 256 * all + 2, 1025 * all
  end)
  test.equal((processor "internvl":image(448, 448, shape_of(14, 2))), 258)
  test.equal((processor "internvl":image(896, 896, shape_of(14, 2))), 5 * 256 + 2) -- 2 x 2 tiles and the copy
  for _, size in ipairs(sizes(53)) do
    local frames = 1 + size[1] % 40
    local tokens, rows, embeddings = processor "internvl":video(frames, size[1], size[2], shape_of(14, 2))
    test.equal(tokens, 258 * frames)
    test.equal(embeddings, 256 * frames)
    test.equal(sum(rows), 1025 * frames)
  end
end)

test("examples that documentation states come out", function()
  -- Qwen2-VL's model card: 256 to 1,280 tokens are 256 x 28 x 28 to 1280 x 28 x 28 pixels, and 4 to 16,384 by default.
  local largest_of_qwen2 = processor "qwen2_vl":image(20000, 20000, shape_of(14, 2, 2))
  test.check(largest_of_qwen2 <= 16384 and largest_of_qwen2 > 16000, "%d", largest_of_qwen2)
  test.equal((processor "qwen2_vl":image(1, 1, shape_of(14, 2, 2))), 4)
  -- Gemma 4's processor takes 70, 140, 280, 560 or 1120 tokens; Gemma 3's report: 256 tokens of 896 x 896 pixels.
  for _, most in ipairs { 70, 140, 280, 560, 1120 } do
    local class = named_policies.class("processors", "gemma4")
    local tokens = class { max_tokens = most }:image(1000, 1000, shape_of(16, 3)) - 2
    test.check(tokens <= most and tokens > 0.8 * most, "%d of %d", tokens, most)
  end
  -- Llama 4's processor, find_supported_resolutions: an image of 336 x 336 pixels is one tile.
  test.equal((processor "llama4":image(336, 336, shape_of(14, 2))), 147)
end)

test("the processor says how many embeddings the largest image of a model has", function()
  -- vLLM: gemma4_mm.py, default_output_length; MiniMax-M3: 672 x 672 pixels; Mistral: 1,540 pixels, 28 a token;
  -- Llama 4: 16 tiles and a copy, without marks.
  for model, embeddings in pairs { ["qwen3-vl-30b-a3b"] = 16384, ["gemma-4-31b"] = 280, ["gemma-3-27b"] = 256,
    ["kimi-k2.5"] = 4096, ["minimax-m3"] = 24 * 24, ["mistral-large-3"] = 55 * 55, ["llama-4-scout"] = 17 * 144,
    ["llama-3.1-8b"] = 0 } do
    test.equal(processors.largest(spec.model(model)), embeddings, model)
  end
  test.equal(processors.largest { name = "own", vision = { image_tokens = 1120, processor = "gemma4" } }, 1120)
  test.equal(processors.largest { name = "own", vision = { image_tokens = 0, processor = "internvl", patch_size = 14,
    patches_per_token = 4, patch_frames = 1 } }, 13 * 256)
end)

test("what a processor cannot take is an error that names the size", function()
  local ok, problem = pcall(function() processor "qwen3_vl":image(1, 201, shape_of(16, 2, 2)) end)
  test.check(not ok and tostring(problem):find("1x201", 1, true), "%s", tostring(problem))
  ok, problem = pcall(function() processor "qwen3_vl":video(1, 64, 64, shape_of(16, 2, 2)) end)
  test.check(not ok and tostring(problem):find("1 frames", 1, true), "%s", tostring(problem))
end)

test.finish()
