--- The requests of another workload, with images in each prompt.
local inner = require "workloads.composed.inner"
local pictures = require "workloads.shared.pictures"
local policy = require "rooflua.policy"

---@class workloads.WithPictures: rooflua.Workload
---@field of rooflua.Workload
---@field images any
---@field behind boolean
local WithPictures = policy.define {
  name = "with_pictures",
  doc = "Another workload whose prompts have images.",
  source = "vllm/benchmarks/datasets.py, RandomMultiModalDataset; SGLang benchmark/datasets/image.py",
  params = {
    of = { policy = "workloads", default = "poisson", doc = "The workload." },
    images = { default = { { 1280, 720 } }, type = "any",
      doc = "Images of a request: { { width, height }, ... } in pixels, or { count = N, sizes = { ... } }, drawn." },
    behind = { default = false, doc = "Images stand behind the text of a prompt; false: in front of it." },
    distinct = { default = 0, unit = "images", min = 0, integer = true,
      doc = "How many different images there are for each place in a prompt; 0 = no two are alike." },
  },
}

--- The same with another workload.
function WithPictures:scaled(of) return policy.with(self, { of = of(self.of) }) end

---@param rng rooflua.Random
function WithPictures:requests(rng)
  local of = self.of == "poisson" and require "workloads.poisson" {} or policy.fresh(self.of)
  inner.check(of, "workload.of")
  local plain = of:requests(rng)
  local draw = pictures.drawer(self.images, rng:stream("image_sizes"))
  if not draw then return plain end
  return pictures.added(plain, { draw = draw, behind = self.behind, distinct = self.distinct,
    stream = rng:stream("images") })
end

--- The most tokens that the images of a request have; nil where there is no bound.
function WithPictures:most_item_tokens(tokens_of) return pictures.most_tokens(self.images, tokens_of) end

return WithPictures
