-- The batch of one whole prompt, for a question beside the run.
local batch = require "rooflua.border.batch"
local ffi = require("rooflua.border.abi").ffi

local rows, data = ffi.new "rooflua_prefill_work[1]", ffi.new "rooflua_batch"
data.prefills, data.prefill_count, data.requests, data.sampled = rows, 1, 1, 1
local handle = batch.rewritten(function() return 0 end)

--- The batch of a prompt of so many new tokens after a context. It ends with the next call.
return function(new_tokens, context_tokens)
  local row = rows[0]
  row.new_tokens, row.context_tokens, row.completes, row.left_tokens = new_tokens, context_tokens, 1, 0
  data.tokens = new_tokens
  return handle(data)
end
