-- InferenceService of KServe: a container of one's own, or KServe's server of Hugging Face models, which runs vLLM.
-- Source: kserve 0.13 to 0.16, pkg/apis/serving/v1beta1/predictor.go; flags of its own:
-- python/huggingfaceserver/huggingfaceserver/__main__.py
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local kserve = require "rooflua.manifests.forms.kserve"
local native = require "rooflua.native"
local pods = require "rooflua.manifests.pods"

local inference_service = {}

--- Flags of the server that are none of vLLM.
local own_flags = core.set { "model-name", "model-id", "model-dir", "backend", "task", "http-port", "grpc-port",
  "workers", "max-threads", "max-asyncio-workers", "enable-grpc", "disable-special-tokens", "return-raw-logits",
  "return-probabilities", "predictor-protocol", "enable-docs-url", "enable-latency-logging", "configure-logging",
  "tensor-input-names" }

--- Words without flags of the server, and these by name.
local function split(args)
  local out, own, at = {}, {}, 1
  while args[at] do
    local flag, value = args[at]:match "^%-%-([^=]+)=?(.*)$"
    local name = flag and flag:gsub("_", "-")
    if name and own_flags[name] then
      if not args[at]:find "=" and args[at + 1] and not args[at + 1]:find "^%-" then
        value, at = args[at + 1], at + 1
      end
      own[name] = value
    else
      out[#out + 1] = args[at]
    end
    at = at + 1
  end
  return out, own
end

local function read_model(model, predictor, about)
  local format, runtime = model:text("modelFormat", "name") or "", model:text "runtime"
  if format ~= "huggingface" and format ~= "vllm" then
    about.told[#about.told + 1] = ("%s: the format %s starts no engine that is known"):format(model.path,
      native.printable(format))
    return
  end
  if runtime then
    about.told[#about.told + 1] = ("%s: the runtime %s is not read, and taken for KServe's own"):format(model.path,
      native.printable(runtime))
  end
  local more = core.copy(about, { words = function(_, _, args)
    local words, own = split(args)
    if own.backend == "huggingface" then return { "huggingface" } end -- without vLLM
    local name = own["model-id"] or kserve.model(model:text "storageUri")
    table.insert(words, 1, name or holes.of "the model")
    table.insert(words, 1, "serve")
    table.insert(words, 1, "vllm")
    for _, width in ipairs { "tensor", "pipeline" } do
      local count = predictor:text("workerSpec", width .. "ParallelSize")
      if count then words[#words + 1] = ("--%s-parallel-size=%s"):format(width, count) end
    end
    return words
  end })
  more.nodes = predictor:count("workerSpec", "pipelineParallelSize") or 1
  pods.add(model, predictor, more)
end

function inference_service.read(root, about, name)
  local predictor = root:at("spec", "predictor")
  if not predictor then return end
  local own = core.copy(about, { count = math.max(1, predictor:count "minReplicas" or 1), name = name })
  own.gpu = pods.gpu(predictor, about.told)
  local model = predictor:at "model"
  if model then return read_model(model, predictor, own) end
  pods.read(predictor, own)
end

return inference_service
