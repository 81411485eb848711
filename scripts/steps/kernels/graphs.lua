--- CUDA graph capture sizes as vLLM has them: 1, 2, 4, then every 8 to 248, every 16 from 256.
--- Every GEMM of a step runs at the next size; above the largest there is no graph and no padding.
--- Source: vLLM config, cudagraph_capture_sizes, releases 0.11 to 0.28.
local ceil, min = math.ceil, math.min

local graphs = {}

--- @return integer tokens the GEMMs of a step of `tokens` run with
function graphs.padded(tokens, largest)
  if tokens > largest or tokens <= 2 then return tokens end
  local size = 4
  if tokens > 248 then
    size = 16 * ceil(tokens / 16)
  elseif tokens > 4 then
    size = 8 * ceil(tokens / 8)
  end
  return min(size, largest)
end

--- The largest size that an engine captures.
function graphs.largest(limit, max_num_seqs, max_num_batched_tokens)
  return min(limit, 2 * max_num_seqs, max_num_batched_tokens)
end

return graphs
