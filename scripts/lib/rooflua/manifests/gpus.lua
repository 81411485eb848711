-- GPUs by the names that labels of nodes give them.
local core = require "rooflua.base.core"
local spec = require "rooflua.spec"

local gpus = {}

--- Labels whose value names a GPU, and names that a label has where the catalogue does not know them.
-- cloud.google.com/gke-accelerator: cloud.google.com/kubernetes-engine/docs/concepts/gpus; nvidia.com/gpu.product:
-- NVIDIA/gpu-feature-discovery docs, the product name with "-" for spaces; amd.com/gpu.product-name: ROCm/k8s-device-plugin
local labels = { "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "amd.com/gpu.product-name",
  "amd.com/gpu.product", "gpu.nvidia.com/model" }
local names = { ["nvidia-h100-80gb"] = "h100-sxm", ["nvidia-h100-mega-80gb"] = "h100-sxm",
  ["nvidia-h200-141gb"] = "h200-sxm", ["nvidia-b200"] = "b200", ["nvidia-gb200"] = "gb200", ["nvidia-l4"] = "l4",
  ["nvidia-tesla-t4"] = "t4", ["nvidia-tesla-a100"] = "a100-sxm-40gb", ["nvidia-a100-80gb"] = "a100-sxm-80gb" }

local is_label = core.set(labels)

--- What NVIDIA/gpu-feature-discovery calls GPUs; a writer takes the name of the catalogue for others.
local products = { ["h100-sxm"] = "NVIDIA-H100-80GB-HBM3", ["h100-nvl"] = "NVIDIA-H100-NVL", ["h200-sxm"] = "NVIDIA-H200",
  b200 = "NVIDIA-B200", gb200 = "NVIDIA-GB200", ["a100-sxm-80gb"] = "NVIDIA-A100-SXM4-80GB", l40s = "NVIDIA-L40S",
  l4 = "NVIDIA-L4", ["a100-sxm-40gb"] = "NVIDIA-A100-SXM4-40GB" }

--- What a writer of a manifest names: {label, value, resource} of a GPU of the catalogue, or of none.
function gpus.written(name)
  local is_amd = name ~= nil and spec.hardware(name).architecture:find "^cdna" ~= nil
  return { label = is_amd and "amd.com/gpu.product-name" or labels[1], value = name and (products[name] or name),
    resource = is_amd and "amd.com/gpu" or "nvidia.com/gpu" }
end

--- The name in the catalogue of what a label says; nil where it is not known.
function gpus.known(value)
  local low = value:lower():gsub("%-shared$", "")
  for _, form in ipairs { names[low] or value, value, (value:gsub("%-", " ")), (value:gsub("_", " ")) } do
    local ok, object = pcall(spec.hardware, form)
    if ok and not form:find "[/\\]" then return object.name end
  end
end

--- Whether a label of nodes names a GPU.
function gpus.is_label(label) return is_label[label] == true end

--- What a resource of a container counts: "nvidia.com/gpu", "amd.com/gpu", "gpu".
function gpus.is_resource(name) return name == "nvidia.com/gpu" or name == "amd.com/gpu" or name == "gpu" end

return gpus
