--- Requests with images: Poisson arrivals, and images of given sizes in front of the text of each prompt. Without images
--- it is workloads.poisson.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.Pictures: rooflua.Workload
---@field images any
---@field distinct integer
local Pictures = policy.define {
  name = "pictures",
  doc = "Open loop, Poisson arrivals, prompts with images.",
  source = "arrivals of many independent users; how many tokens an image has: scripts/processors",
  params = arrivals.parameters {
    images = { default = {}, type = "any",
      doc = "Sizes of the images of a request in pixels: { { width, height }, ... }; or { count = N, width = W, height "
        .. "= H }, each of which may be a distribution of lengths." },
    distinct = { default = 0, unit = "images", min = 0, integer = true,
      doc = "Images are drawn from so many different ones of each place; 0 = no two are alike." },
  },
}

local function gap(state) return state.gaps:exponential(state.rate) end

--- What draws the images of a request: a list of {width, height}.
local function sizes_of(images, stream)
  if type(images) ~= "table" then error("workload.images: expected a list of { width, height }", 0) end
  if images.count == nil then return function() return images end end
  local count = lengths.sampler(images.count, "workload.images.count")
  local width = lengths.sampler(images.width, "workload.images.width")
  local height = lengths.sampler(images.height, "workload.images.height")
  return function()
    local out = {}
    for i = 1, count(stream) do out[i] = { width(stream), height(stream) } end
    return out
  end
end

local function with_images(state)
  local at_s, prompt, output, fields = state.plain.next(state.plain)
  if at_s == nil then return nil end
  local list = {}
  for i, each in ipairs(state.sizes()) do
    local id = state.distinct > 0 and state.drawn:integer(0, state.distinct - 1) * 64 + i or nil
    list[i] = { width = each.width or each[1], height = each.height or each[2], id = id }
  end
  fields = fields or {}
  fields.items = { images = list }
  return at_s, prompt, output, fields
end

---@param rng rooflua.Random
function Pictures:requests(rng)
  local plain = arrivals.open_loop(self, rng, gap)
  if next(self.images) == nil then return plain end
  return { next = with_images, plain = plain, sends_items = true, shares_content = true, distinct = self.distinct,
    drawn = rng:stream("images"), sizes = sizes_of(self.images, rng:stream("image_sizes")) }
end

return Pictures
