--- Images, videos and sounds of requests, as workloads declare them in `images`:
---
---     { { 1024, 768 }, { 640, 480 } }                                          these, in every request
---     { count = 2, sizes = { { 256, 256 }, { 1280, 720, weight = 3 } } }       two of these sizes, drawn by weight
---
--- A size is { width, height } in pixels, of a video with `frames`; a sound is { seconds = 30 }. `count` is a number or
--- a distribution of lengths, of which a uniform one may be 0. `most_videos` bounds the videos of a request.
local lengths = require "rooflua.lengths"

local pictures = {}

local most_images = 1024 -- of a request

local function wrong(message, ...) error("workload.images: " .. message:format(...), 0) end

local size_keys = { [1] = true, [2] = true, width = true, height = true, frames = true, weight = true }

local function sound_of(each, i)
  for key, value in pairs(each) do
    if key ~= "seconds" and key ~= "weight" then
      wrong("[%d]: unknown key %s of a sound (known: seconds, weight)", i, tostring(key))
    end
    if type(value) ~= "number" or not (value >= 0 and (key == "weight" or value > 0)) then
      wrong("[%d]: %s: expected a number above 0, found %s", i, key, tostring(value))
    end
  end
  return { seconds = each.seconds, weight = each.weight or 1 }
end

local function size_of(each, i)
  if type(each) ~= "table" then wrong("[%d]: expected { width, height }, found a %s", i, type(each)) end
  if each.seconds ~= nil then return sound_of(each, i) end
  local width, height = each.width or each[1], each.height or each[2]
  for name, value in pairs { width = width or false, height = height or false } do
    if type(value) ~= "number" or not (value >= 1) then
      wrong("[%d]: %s: expected pixels from 1 on, found %s", i, name, tostring(value))
    end
  end
  for key, value in pairs(each) do
    if not size_keys[key] then
      wrong("[%d]: unknown key %s (known: frames, height, weight, width)", i, tostring(key))
    end
    local least = key == "weight" and 0 or 1
    if type(value) ~= "number" or not (value >= least) then
      wrong("[%d]: %s: expected a number from %d on, found %s", i, tostring(key), least, tostring(value))
    end
  end
  return { width = width, height = height, frames = each.frames, weight = each.weight or 1 }
end

local function sizes_of(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = size_of(each, i) end
  return out
end

--- One size by weight; videos only where `videos` is true.
local function drawn(sizes, stream, videos)
  local sum = 0
  for _, each in ipairs(sizes) do sum = sum + (each.frames and not videos and 0 or each.weight) end
  if sum == 0 then return nil end
  local left = stream:uniform() * sum
  for _, each in ipairs(sizes) do
    left = left - (each.frames and not videos and 0 or each.weight)
    if left < 0 then return each end
  end
  return sizes[#sizes]
end

--- How many images a request has: lengths are at least 1, so that 0 is asked for by itself.
local function counter(count, stream)
  if type(count) == "number" and (count < 0 or count % 1 ~= 0) then
    wrong("count: expected a whole number from 0 on, found %g", count)
  end
  if type(count) == "number" or count == nil then return function() return count or 1 end end
  if count.distribution == "uniform" and count.min == 0 then
    return function() return stream:integer(0, count.max) end
  end
  local sampler = lengths.sampler(count, "workload.images.count")
  return function() return sampler(stream) end
end

--- What draws the images of a request: fun(): sizes. nil where no request has any.
function pictures.drawer(images, stream)
  if type(images) ~= "table" then wrong("expected a list of { width, height }, found a %s", type(images)) end
  if images.sizes == nil and images.count == nil then
    local list = sizes_of(images)
    if #list == 0 then return nil end
    return function() return list end
  end
  for key in pairs(images) do
    if key ~= "count" and key ~= "sizes" and key ~= "most_videos" then
      wrong("unknown key %s (known: count, most_videos, sizes)", tostring(key))
    end
  end
  local sizes, count = sizes_of(images.sizes or {}), counter(images.count, stream)
  local weight = 0
  for _, each in ipairs(sizes) do weight = weight + each.weight end
  if not (weight > 0) then wrong("sizes: expected at least one { width, height } with a weight above 0") end
  return function()
    local out, videos = {}, 0
    for i = 1, count() do
      local size = drawn(sizes, stream, videos < (images.most_videos or math.huge))
      if not size then break end
      videos = videos + (size.frames and 1 or 0)
      out[i] = size
    end
    return out
  end
end

--- The most tokens that the images of a request have; nil where their number has no bound.
---@param tokens_of fun(size: table): integer
function pictures.most_tokens(images, tokens_of)
  local sum, largest, count = 0, 0, images.count or 1
  for _, each in ipairs(sizes_of(images.sizes or images)) do
    local tokens = tokens_of(each)
    sum, largest = sum + tokens, math.max(largest, tokens)
  end
  if images.sizes == nil and images.count == nil then return sum end
  local most = type(count) == "number" and count or count.distribution == "uniform" and count.max or lengths.most(count)
  return most and most * largest
end

--- A source of requests with images in each. `about`: {draw, behind: images stand behind the text, distinct: how many
--- different images there are of each place in a prompt, 0: all differ, stream}.
function pictures.added(source, about)
  local with
  --- Follow-ups of a request: a list of {at_s, prompt, output, fields}.
  local function with_each(list)
    local out = {}
    for i, each in ipairs(list) do out[i] = { with(each[1], each[2], each[3], each[4]) } end
    return out
  end
  function with(at_s, prompt, output, fields)
    if type(at_s) == "table" then return with_each(at_s) end
    if type(at_s) ~= "number" then return at_s, prompt, output, fields end
    local images, videos, sounds = {}, {}, {}
    local drawn_now = about.draw()
    if #drawn_now >= most_images then wrong("a request has at most %d, found %d", most_images - 1, #drawn_now) end
    for i, size in ipairs(drawn_now) do
      local id = about.distinct > 0 and about.stream:integer(0, about.distinct - 1) * most_images + i or nil
      local list = size.seconds and sounds or size.frames and videos or images
      list[#list + 1] = { width = size.width, height = size.height, frames = size.frames, seconds = size.seconds,
        id = id }
    end
    if #images + #videos + #sounds == 0 then return at_s, prompt, output, fields end
    local own = {}
    for key, value in pairs(fields or {}) do own[key] = value end
    own.items = { images = images, video = videos, audio_s = sounds, at = about.behind and prompt or 0 }
    return at_s, prompt, output, own
  end
  if type(source) ~= "function" and (type(source) ~= "table" or source.plays) then
    error("workload: images are added to requests that are drawn one by one, not to plays or traces", 0)
  end
  local plain = type(source) == "function" and { next = function() return source() end } or source
  return setmetatable({ sends_items = true,
    next = function() return with(plain:next()) end,
    done = plain.done and function(_, ...) return with(plain:done(...)) end or nil,
    more = plain.more and function() return with(plain:more()) end or nil,
    cancels = plain.cancels and function() return plain:cancels() end or nil }, { __index = plain })
end

return pictures
