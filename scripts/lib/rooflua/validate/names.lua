-- Names of GPUs and engines as published runs spell them: "NVIDIA H200 141GB HBM3e", "TensorRT-LLM 0.9".
local core = require "rooflua.base.core"
local spec = require "rooflua.spec"

local names = {}

--- Words of a GPU's name that tell no GPU from another one. (PCIe and NVL do.)
local filler = { "nvidia", "tesla", "geforce", "tensor core", "gpu", "hbm%w*", "gddr%w*", "sxm%d*" }

--- The size of the memory that a name states, in GB; nil where it states none.
local function stated_gb(text) return tonumber((text:lower():match "(%d+)%s*gi?b%f[^%w]")) end

--- Whether a GPU has that many GB or GiB of memory, within a tenth.
local function has_memory(hardware, gb)
  for _, unit in ipairs { 1e9, 2 ^ 30 } do
    if math.abs(hardware.memory_bytes / unit - gb) <= 0.1 * gb then return true end
  end
  return false
end

--- The GPU of a case: by its name, else by its name without filler. A stated size of memory must be the GPU's.
function names.hardware(text)
  local ok, found = pcall(spec.hardware, text)
  if ok then return found end
  local short = " " .. text:lower():gsub("[_%-/]", " ") .. " "
  for _, each in ipairs(filler) do short = short:gsub("%f[%w]" .. each .. "%f[^%w]", " ") end
  short = short:gsub("%f[%w]%d+%s*gi?b%f[^%w]", " "):gsub("%s+", " "):match "^%s*(.-)%s*$"
  local known, hardware = pcall(spec.hardware, short)
  if short == "" or not known then error(found, 0) end
  local gb = stated_gb(text)
  if gb and not has_memory(hardware, gb) then
    core.fail("gpu: '%s': the %s that is known has %.0f GB, not %d", text, hardware.name,
      hardware.memory_bytes / 1e9, gb)
  end
  return hardware
end

return names
