-- GPUs by the names that labels of nodes give them.
-- cloud.google.com/gke-accelerator: cloud.google.com/kubernetes-engine/docs/concepts/gpus; nvidia.com/gpu.product:
-- NVIDIA/gpu-feature-discovery docs, the product with "-" for spaces; amd.com/gpu.product-name: ROCm/k8s-device-plugin
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local spec = require "rooflua.spec"

local gpus = {}

local labels = core.set { "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "amd.com/gpu.product-name" }

--- Labels of GKE that the catalogue does not know.
local names = { ["nvidia-h100-80gb"] = "h100-sxm", ["nvidia-h100-mega-80gb"] = "h100-sxm",
  ["nvidia-h200-141gb"] = "h200-sxm", ["nvidia-tesla-t4"] = "t4", ["nvidia-tesla-a100"] = "a100-sxm-40gb",
  ["nvidia-a100-80gb"] = "a100-sxm-80gb" }

--- Products of NVIDIA; a writer takes the name of the catalogue for others.
local products = { ["h100-sxm"] = "NVIDIA-H100-80GB-HBM3", ["h200-sxm"] = "NVIDIA-H200", b200 = "NVIDIA-B200",
  gb200 = "NVIDIA-GB200", ["a100-sxm-80gb"] = "NVIDIA-A100-SXM4-80GB", l40s = "NVIDIA-L40S", l4 = "NVIDIA-L4" }

--- What a writer of a manifest names of a GPU of the catalogue, or of none: {label, value, resource}.
function gpus.written(name)
  local is_amd = name ~= nil and spec.hardware(name).architecture:find "^cdna" ~= nil
  return { label = is_amd and "amd.com/gpu.product-name" or "nvidia.com/gpu.product",
    value = name and (products[name] or name), resource = is_amd and "amd.com/gpu" or "nvidia.com/gpu" }
end

--- The name in the catalogue of what a label says; nil where it is not known, which is told.
function gpus.known(value, told)
  local name = names[value:lower()] or value
  local ok, object = pcall(spec.hardware, name)
  if ok and not name:find "[/\\]" then return object.name end
  told[#told + 1] = ("the GPU '%s' is not known here"):format(holes.shown(value))
end

--- Whether a label of nodes names a GPU, and whether a resource of a container counts GPUs.
function gpus.is_label(label) return labels[label] == true end
function gpus.is_resource(name) return name == "nvidia.com/gpu" or name == "amd.com/gpu" or name == "gpu" end

return gpus
