-- data.multimodal of inference-perf's configuration: images and videos of a request, as workloads.with_pictures takes
-- them. Source: inference_perf/config/datagen/multimodal.py (7de5ef2b).
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local keys = require "rooflua.bench.inference_perf_keys"

local media = {}
local fail = core.fail

local presets = { ["4k"] = { 3840, 2160 }, ["1080p"] = { 1920, 1080 }, ["720p"] = { 1280, 720 },
  ["360p"] = { 640, 360 } }
local of_item = { image = keys.of { read = "count resolutions", none = "representation", lost = "insertion_point" },
  video = keys.of { read = "count profiles", none = "representation", lost = "insertion_point" } }
local of_all = keys.of { read = "image video", refused = "audio" }

--- {width, height} of a preset or of {width, height}.
local function size_of(path, given)
  if documents.is_map(given) and tonumber(given.width) and tonumber(given.height) then
    return { given.width, given.height }
  end
  return presets[given] or fail("%s: expected 4k, 1080p, 720p, 360p or {width, height}, found %s", path,
    core.describe(given))
end

--- Sizes with weights of one value or of a list of {[name] = value, weight}.
local function sizes_of(path, name, given, of)
  if given == nil then fail("%s: is missing", path) end
  if type(given) ~= "table" or documents.is_map(given) then return { of(path, given) } end
  local out = {}
  for i, each in ipairs(given) do
    local where = ("%s[%d]"):format(path, i)
    if not documents.is_map(each) then fail("%s: expected %s and weight", where, name) end
    out[i] = of(where .. "." .. name, each[name])
    out[i].weight = tonumber(each.weight) or 1
  end
  if #out == 0 then fail("%s: expected one or more", path) end
  return out
end

local function video_of(path, given)
  if not documents.is_map(given) or not tonumber(given.frames) then fail("%s: expected resolution and frames", path) end
  local out = size_of(path .. ".resolution", given.resolution)
  return { out[1], out[2], frames = given.frames }
end

--- What `images` of workloads.with_pictures is; nil: nothing.
---@param own table {lost, unknown}: names are added
function media.of(own, given)
  local all = keys.section(own, given, "data.multimodal", of_all)
  if all.image and all.video then
    fail "data.multimodal: images and videos of one request are counted apart: give them as a workload of the scenario"
  end
  local name = all.image and "image" or all.video and "video"
  if not name then return nil end
  local path = "data.multimodal." .. name
  local item = keys.section(own, all[name], path, of_item[name])
  local sizes = name == "image" and sizes_of(path .. ".resolutions", "resolution", item.resolutions, size_of)
    or sizes_of(path .. ".profiles", "profile", item.profiles, video_of)
  return { sizes = sizes, count = item.count and keys.length(own, item.count, path .. ".count") or 1 }
end

return media
