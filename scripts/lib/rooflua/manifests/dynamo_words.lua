-- Commands of Dynamo's workers, `python3 -m dynamo.vllm`, as those of their engines, and back.
-- Source: ai-dynamo/dynamo 0.4 to 0.8, arguments of dynamo.vllm, dynamo.sglang, dynamo.trtllm
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"

local dynamo_words = {}

--- By engine: the word in front of the model, and flags that Dynamo spells in another way than the engine.
local engines = {
  vllm = { model = "--model", flags = {} },
  sglang = { model = "--model-path", flags = {} },
  trtllm = { model = "--model-path", flags = { { "--tensor-parallel-size", "--tp_size" },
    { "--pipeline-parallel-size", "--pp_size" }, { "--expert-parallel-size", "--ep_size" },
    { "--max-batch-size", "--max_batch_size" }, { "--max-num-tokens", "--max_num_tokens" },
    { "--max-seq-len", "--max_seq_len" }, { "--free-gpu-memory-fraction", "--kv_cache_free_gpu_memory_fraction" },
    { "--extra-engine-args", "--config" } } },
}

--- Dynamo's own flags that say the role of a worker.
local roles = { ["--is-prefill-worker"] = "prefill", ["--is-decode-worker"] = "decode" }
local modes = { prefill = "prefill", decode = "decode" }

local function module_of(words)
  for i, word in ipairs(words) do
    local name = word:match "^dynamo%.(%a+)$"
    if name and engines[name] and words[i - 1] == "-m" then return name, i end
  end
end

--- Words of a worker as those of its engine, and the role that they say; other words as they are.
function dynamo_words.read(words)
  local name, at = module_of(words)
  if not name then return words end
  local own, out, spelled, role = engines[name], {}, {}, nil
  for word in catalogue.of(name).command:gmatch "%S+" do out[#out + 1] = word end
  for _, pair in ipairs(own.flags) do spelled[pair[1]] = pair[2] end
  local i = at + 1
  while i <= #words do
    local word = words[i]
    if roles[word] then
      role = roles[word]
    elseif word == "--disaggregation-mode" and name ~= "sglang" then
      role, i = modes[words[i + 1]], i + 1
    elseif word == own.model and name == "trtllm" then -- its command has the model without a flag
      out[#out + 1], i = words[i + 1], i + 1
    else
      local flag, rest = word:match "^([^=]+)(=.*)$"
      out[#out + 1] = spelled[word] or flag and spelled[flag] and spelled[flag] .. rest or word
    end
    i = i + 1
  end
  return out, role
end

--- The program and the word in front of the model of an engine's worker.
function dynamo_words.command(part)
  local own = engines[part.engine.name]
  if not own then core.fail("--as dynamo: Dynamo has no worker of %s", part.engine.title) end
  return { "python3", "-m", "dynamo." .. part.engine.name }, own.model
end

--- Changes words of an engine's command into those of Dynamo.
function dynamo_words.write(part, words)
  local own, back = engines[part.engine.name], {}
  for _, pair in ipairs(own.flags) do back[pair[2]] = pair[1] end
  for i, word in ipairs(words) do
    if back[word] then
      words[i] = back[word]
    elseif #own.flags > 0 and i > 5 and word:find "^%-%-%a" then
      core.fail("--as dynamo: %s has no place: dynamo.%s has no such flag", word, part.engine.name)
    end
  end
  if part.role == "prefill" and part.engine.name == "vllm" then words[#words + 1] = "--is-prefill-worker" end
end

return dynamo_words
