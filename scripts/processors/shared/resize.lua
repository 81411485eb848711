--- How Qwen's processors scale pictures: both sides become multiples of the pixels of a token, and their product stays
--- within bounds, at nearly the same ratio of the sides. Source: transformers,
--- models/qwen2_vl/image_processing_qwen2_vl.py and models/qwen3_vl/video_processing_qwen3_vl.py, smart_resize.
local resize = {}

local ceil, floor, max, min, sqrt = math.ceil, math.floor, math.max, math.min, math.sqrt

local most_ratio = 200 -- of the sides: a picture beyond is refused

--- The nearest multiple of `factor`; of two that are as near, the even one, as Python rounds.
local function nearest(pixels, factor)
  local units = pixels / factor
  local below = floor(units)
  local rest = units - below
  local is_up = rest > 0.5 or rest == 0.5 and below % 2 == 1
  return (is_up and below + 1 or below) * factor
end

--- Refuses what the processors refuse.
function resize.check(width, height)
  if max(width, height) / min(width, height) > most_ratio then
    error(("a picture of %dx%d pixels: one side is more than %d times the other"):format(width, height, most_ratio), 0)
  end
end

--- Sides of a picture in pixels, or of the frames of a video that share the bounds.
--- @param factor number pixels along a side of a token
--- @param least number pixels of all frames
--- @param most number
--- @param how table? {frames = 1, counted = frames with those that fill the last patch, least_side = 0: pixels that a
---   side has at least before the bounds are looked at}
--- @return number width
--- @return number height
function resize.smart(width, height, factor, least, most, how)
  local frames, least_side = how and how.frames or 1, how and how.least_side or 0
  local wide, high = max(least_side, nearest(width, factor)), max(least_side, nearest(height, factor))
  local pixels = (how and how.counted or frames) * wide * high
  if pixels > most then
    local scale = sqrt(frames * width * height / most)
    return max(factor, floor(width / scale / factor) * factor), max(factor, floor(height / scale / factor) * factor)
  elseif pixels < least then
    local scale = sqrt(least / (frames * width * height))
    return ceil(width * scale / factor) * factor, ceil(height * scale / factor) * factor
  end
  return wide, high
end

--- A list of `count` sequences of `patches`.
function resize.sequences(count, patches)
  local out = {}
  for i = 1, count do out[i] = patches end
  return out
end

resize.nearest = nearest

return resize
