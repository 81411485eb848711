--- Qwen2-Audio's sounds: Whisper's encoder over 30 seconds, to which a shorter sound is padded and a longer one cut.
--- Tokens are counted of the frames that are no padding. Begin and end stand in the prompt as well.
local policy = require "rooflua.policy"
local sound = require "processors.shared.sound"

local floor, min = math.floor, math.min

---@class processors.Qwen2Audio: rooflua.Processor
---@field most_frames integer
---@field marks integer
local Qwen2Audio = policy.define {
  name = "qwen2_audio",
  doc = "One token for four frames of at most 30 seconds; the encoder always runs over 30.",
  source = "transformers 4.45 to 5.14: models/qwen2_audio/processing_qwen2_audio.py, modeling_qwen2_audio.py",
  params = {
    most_frames = { default = 3000, unit = "frames", min = 8, integer = true, doc = "What follows is cut off." },
    marks = { default = 2, unit = "tokens", min = 0, integer = true, doc = "Begin and end." },
  },
}

function Qwen2Audio:audio(seconds)
  local patches = floor((min(sound.frames(seconds), self.most_frames) - 1) / 2) + 1
  local tokens = floor((patches - 2) / 2) + 1
  if tokens < 1 then error(("a sound of %g seconds has no token"):format(seconds), 0) end
  return tokens + self.marks, { self.most_frames / 2 }, tokens
end

return Qwen2Audio
