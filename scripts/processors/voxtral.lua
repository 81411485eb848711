--- Voxtral's sounds: Whisper's encoder over pieces of 30 seconds, the last of which is padded. 3,000 frames of a piece
--- become 1,500 patches, and four patches a token. A mark begins the sound.
local policy = require "rooflua.policy"
local resize = require "processors.shared.resize"
local sound = require "processors.shared.sound"

---@class processors.Voxtral: rooflua.Processor
---@field piece_frames integer
---@field marks integer
local Voxtral = policy.define {
  name = "voxtral",
  doc = "Every begun piece of 30 seconds has the same number of tokens.",
  source = "transformers 4.54 to 5.14: models/voxtral/processing_voxtral.py, modeling_voxtral.py; mistral_common: "
    .. "tokens/tokenizers/audio.py (BEGIN_AUDIO)",
  params = {
    piece_frames = { default = 3000, unit = "frames", min = 8, integer = true, doc = "That the encoder sees at once." },
    marks = { default = 1, unit = "tokens", min = 0, integer = true, doc = "In front of the sound." },
  },
}

function Voxtral:audio(seconds, shape)
  local pieces = math.ceil(sound.frames(seconds) / self.piece_frames)
  local patches = self.piece_frames / 2
  return pieces * patches / shape.patches_per_token + self.marks, resize.sequences(pieces, patches)
end

return Voxtral
