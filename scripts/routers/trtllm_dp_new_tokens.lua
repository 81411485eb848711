--- How TensorRT-LLM before 1.0 divides requests among the data-parallel ranks of its engine's attention: as trtllm_dp,
--- but only the tokens of requests that come together count, and of equal ranks the one with more requests is first.
local policy = require "rooflua.policy"
local TrtllmDp = require "routers.trtllm_dp"

---@class routers.TrtllmDpNewTokens: routers.TrtllmDp
local TrtllmDpNewTokens = policy.define {
  name = "trtllm_dp_new_tokens",
  doc = "As trtllm_dp, but running requests' tokens do not count: to the rank with the fewest new tokens.",
  source = "TensorRT-LLM _torch/pyexecutor/py_executor.py before pull request 6061, which 1.0 has",
  extends = TrtllmDp,
}

function TrtllmDpNewTokens:tokens_of()
  return 0
end

function TrtllmDpNewTokens:precedes(a, b)
  if a.tokens ~= b.tokens then return a.tokens < b.tokens end
  return a.requests > b.requests
end

return TrtllmDpNewTokens
