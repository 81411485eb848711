---@meta
--- Processors: how many tokens of a prompt an image, a video or a sound becomes (docs/ENCODERS.md).

--- What a file of scripts/processors returns: what an item becomes in the prompt of a model that names it in `vision`
--- or `audio`.
--- A kind of items that it has no method for is refused.
---@class rooflua.Processor: rooflua.PolicyClass
---@field image? fun(self, width: integer, height: integer, shape: rooflua.EncoderShape): integer, integer[], integer?
---@field video? fun(self, frames: integer, width: integer, height: integer, shape: rooflua.EncoderShape): integer,
--- integer[], integer? tokens of the prompt, patches of each sequence of attention, and embeddings: tokens that the
--- encoder makes, where these are not the patches over merge^2
---@field largest? fun(self): integer, integer width and height of the image with the most tokens; default an enormous
--- square
---@field audio? fun(self, seconds: number, shape: rooflua.EncoderShape): integer, integer[], integer?

---@class rooflua.EncoderShape
---@field patch_size integer pixels along a side
---@field patch_frames integer frames of a patch
---@field merge integer patches along a side of a token
---@field patches_per_token integer merge * merge
