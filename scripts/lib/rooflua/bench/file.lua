-- `--bench FILE`: a file that says what a benchmark sends. Its form is told by what is in it. YAML is read by libyaml;
-- JSON is YAML.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local files = require "rooflua.sandbox.files"
local guidellm_run = require "rooflua.bench.guidellm_run"
local inference_perf = require "rooflua.bench.inference_perf"
local inferencex = require "rooflua.bench.inferencex"
local json = require "rooflua.json"
local native = require "rooflua.native"
local tools = require "rooflua.formats.tools"

local file = {}

--- A flag of a profile; a list of rates and a map of data are texts of guidellm's.
local function flag_of(key, value)
  if value == "none" or value == json.null then return "--" .. key end
  if type(value) == "table" then
    local is_map = documents.is_map(value)
    if is_map and key ~= "data" or not is_map and key ~= "rate" then
      core.fail("%s: expected a text or a number, found %s", key, core.describe(value))
    end
    value = is_map and json.encode(value) or json.encode(value):sub(2, -2)
  end
  return "--" .. key .. "=" .. tostring(value)
end

--- Words of a profile of llm-d-benchmark: keys are flags of a command, or stand in `args`. Source:
--- github.com/llm-d/llm-d-benchmark, workload/harnesses: "none" is a flag without a value.
local function words_of(document, start)
  local words, args = {}, type(document.args) == "table" and document.args or {}
  local names_tool = type(args[1]) == "string" and args[1]:sub(1, 1) ~= "-"
  for word in (names_tool and "" or start):gmatch "%S+" do words[#words + 1] = word end
  for i, each in ipairs(args) do
    if type(each) == "table" then core.fail("args[%d]: expected a text, found %s", i, core.describe(each)) end
    words[#words + 1] = tostring(each)
  end
  for key, value in core.sorted_pairs(core.plain(document)) do
    if key ~= "executable" and key ~= "args" then words[#words + 1] = flag_of(tostring(key), value) end
  end
  return words
end

--- {path, wanted} of a text that names a file; nil otherwise.
function file.named(text)
  local path, wanted = tools.split(text)
  if native.file_exists(files.place(path)) then return { path = path, wanted = wanted } end
end

--- The workload of a document, or the words of the command that it stands for.
local function of_document(document, told, wanted)
  if inferencex.tells(document) then return inferencex.workload(document, told, wanted) end
  if inference_perf.tells(document) then return inference_perf.workload(document, told, wanted) end
  if wanted then core.fail("#%s: only a list of rows or stages of conversations has numbers", wanted) end
  if guidellm_run.tells(document) then return guidellm_run.of_document(document, told) end
  if not documents.is_map(document) then return nil end
  local executable = document.executable
  if type(executable) == "string" then return nil, words_of(document, executable) end
  if type(document.args) == "table" then return nil, words_of(document, "vllm bench serve") end
  if document["endpoint-type"] and (document.isl or document["request-count"] or document.concurrency) then
    return nil, words_of(document, "aiperf profile")
  end
  if document.profile or document["rate-type"] or document.rate_type then
    return nil, words_of(document, "guidellm benchmark")
  end
end

--- The workload of a file, or the words of the command that it stands for, or the text of a script with the problem
--- that it has as YAML.
---@param named table of file.named
---@return table? workload, string[]? words, string? script, string? problem
function file.read(named, told)
  local path = files.find(named.path, "--bench", "file")
  local text = native.read_user_text(path)
  local ok, document = pcall(native.yaml_decode, text, path)
  if not ok then return nil, nil, text, document end
  if type(document) == "table" and document ~= json.null then
    local workload, words = of_document(document, told, named.wanted)
    if workload or words then return workload, words end
  end
  return nil, nil, text, "is no load that is known: expected load and data (inference-perf), executable or args with "
    .. "the flags of a benchmark, profile, rate-type or spec (guidellm), rows with conc (InferenceX), or a script"
end

return file
