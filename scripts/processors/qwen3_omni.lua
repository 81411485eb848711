--- Qwen3-Omni's sounds: each 100 frames (one second) become 13 tokens, as three convolutions halve them; a last chunk
--- that is not full has fewer. All tokens of a sound are one sequence, which the encoder cuts into windows (`window` of
--- the model). Marks around a sound are the chat template's.
local policy = require "rooflua.policy"
local sound = require "processors.shared.sound"

local floor = math.floor

---@class processors.Qwen3Omni: rooflua.Processor
---@field chunk_frames integer
local Qwen3Omni = policy.define {
  name = "qwen3_omni",
  doc = "Tokens of a sound by its chunks of frames.",
  source = "transformers 4.57 to 5.14: models/qwen3_omni_moe/processing_qwen3_omni_moe.py, "
    .. "_get_feat_extract_output_lengths",
  params = {
    chunk_frames = { default = 100, unit = "frames", min = 8, integer = true, doc = "That convolutions see at once." },
  },
}

local function halved(length) return floor((length + 1) / 2) end

local function behind_convolutions(frames) return halved(halved(halved(frames))) end

function Qwen3Omni:audio(seconds)
  local frames = sound.frames(seconds)
  local chunks = floor(frames / self.chunk_frames)
  local tokens = chunks * behind_convolutions(self.chunk_frames) + behind_convolutions(frames % self.chunk_frames)
  return tokens, { tokens }
end

return Qwen3Omni
