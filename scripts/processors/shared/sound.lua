--- Frames of a sound, as Whisper's feature extractor counts them: sounds have 16,000 samples a second, and each 160 of
--- them are a frame. A last frame that is not full counts, as engines pad sounds to whole frames. Source: transformers,
--- models/whisper/feature_extraction_whisper.py; vllm/model_executor/models/qwen3_omni_moe_thinker.py,
--- pad_to_hop_length.
local sound = { samples_per_s = 16000, samples_per_frame = 160 }

--- @param seconds number
--- @return integer samples
function sound.samples(seconds) return math.max(1, math.floor(seconds * sound.samples_per_s + 0.5)) end

--- @param seconds number
--- @return integer frames
function sound.frames(seconds) return math.ceil(sound.samples(seconds) / sound.samples_per_frame) end

return sound
