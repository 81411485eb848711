--- Requests with images: Poisson arrivals, and images in front of the text of each prompt. Without images it is
--- workloads.poisson.
local arrivals = require "rooflua.arrivals"
local pictures = require "workloads.shared.pictures"
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
      doc = "Images of a request: { { width, height }, ... } in pixels, or { count = N, sizes = { ... } }, drawn." },
    distinct = { default = 0, unit = "images", min = 0, integer = true,
      doc = "How many different images there are for each place in a prompt; 0 = no two are alike.",
      idle = { images = {} } },
  },
}

local function gap(state) return state.gaps:exponential(state.rate) end

---@param rng rooflua.Random
function Pictures:requests(rng)
  local plain = arrivals.open_loop(self, rng, gap)
  local draw = pictures.drawer(self.images, rng:stream("image_sizes"))
  if not draw then return plain end
  return pictures.added(plain, { draw = draw, distinct = self.distinct, stream = rng:stream("images") })
end

--- The most tokens that the images of a request have; nil where there is no bound.
function Pictures:most_item_tokens(tokens_of) return pictures.most_tokens(self.images, tokens_of) end

return Pictures
