-- Commands of Dynamo's workers, `python3 -m dynamo.vllm`, as those of their engines, and back.
-- Source: ai-dynamo/dynamo 0.4 to 0.8, arguments of dynamo.vllm, dynamo.sglang, dynamo.trtllm
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"

local dynamo_words = {}

--- By engine, flags that Dynamo spells in another way than the engine: {Dynamo's, the engine's}.
local engines = { vllm = {}, sglang = {}, trtllm = { { "--tensor-parallel-size", "--tp_size" },
  { "--pipeline-parallel-size", "--pp_size" }, { "--expert-parallel-size", "--ep_size" },
  { "--max-batch-size", "--max_batch_size" }, { "--max-num-tokens", "--max_num_tokens" },
  { "--max-seq-len", "--max_seq_len" }, { "--extra-engine-args", "--config" },
  { "--free-gpu-memory-fraction", "--kv_cache_free_gpu_memory_fraction" } } }

--- Dynamo's own flags and modes that say the role of a worker.
local roles = { ["--is-prefill-worker"] = "prefill", ["--is-decode-worker"] = "decode", prefill = "prefill",
  decode = "decode" }

--- Words of a worker as those of its engine, and the role that they say; other words as they are.
function dynamo_words.read(words)
  local at, name, role = 2, nil, nil
  while words[at] and not name do
    name, at = words[at - 1] == "-m" and words[at]:match "^dynamo%.(%a+)$", at + 1
  end
  if not engines[name] then return words end
  local out, spelled = {}, {}
  for word in catalogue.of(name).command:gmatch "%S+" do out[#out + 1] = word end
  for _, pair in ipairs(engines[name]) do spelled[pair[1]] = pair[2] end
  while words[at] do
    local word, flag, rest = words[at], words[at]:match "^([^=]+)(=.*)$"
    if word == "--disaggregation-mode" and name ~= "sglang" then
      role, at = roles[words[at + 1]], at + 1
    elseif roles[word] then
      role = roles[word]
    elseif not (word == "--model-path" and name == "trtllm") then -- whose command has the model without a flag
      out[#out + 1] = spelled[word] or spelled[flag] and spelled[flag] .. rest or word
    end
    at = at + 1
  end
  return out, role
end

--- The program of a part's worker, the flag of the model, and what changes words of the engine into Dynamo's.
function dynamo_words.written(part)
  local name, spelled = part.engine.name, {}
  if not engines[name] then core.fail("--as dynamo: Dynamo has no worker of %s", part.engine.title) end
  for _, pair in ipairs(engines[name]) do spelled[pair[2]] = pair[1] end
  return { "python3", "-m", "dynamo." .. name }, name == "vllm" and "--model" or "--model-path", function(words)
    for i = 6, #words do
      if name == "trtllm" and words[i]:find "^%-%-%a" and not spelled[words[i]] then
        core.fail("--as dynamo: %s has no place: dynamo.%s has no such flag", words[i], name)
      end
      words[i] = spelled[words[i]] or words[i]
    end
    if part.role == "prefill" and name == "vllm" then words[#words + 1] = "--is-prefill-worker" end
  end
end

return dynamo_words
