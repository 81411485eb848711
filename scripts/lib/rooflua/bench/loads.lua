-- Workloads of what benchmark tools say of a load, whatever their words for it.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local native = require "rooflua.native"
local policy = require "rooflua.policy"

local loads = {}

local function made(name, params) return chunks.shipped("workloads." .. name)(params) end

--- Refuses a number that has to be there.
local function needed(value, flag)
  if not value or value < 1 then core.fail("--bench: %s: expected a number from 1 on", flag) end
  return value
end

--- Number of requests: stated, else what a rate sends in a duration.
---@param about table {count, duration_s, rate_per_s, clients}
---@param told string[]
function loads.count(about, told)
  if about.count then return needed(about.count, "the number of requests") end
  if about.duration_s and about.rate_per_s and about.rate_per_s < math.huge then
    return math.max(1, math.floor(about.rate_per_s * about.duration_s + 0.5))
  end
  if about.duration_s then
    told[#told + 1] = ("--bench: how many requests %g s hold is not known before: %d are sent"):format(
      about.duration_s, about.otherwise)
  end
  return about.otherwise
end

--- A stage of shared_prefix_stages with about.count requests.
function loads.stage_of(about)
  if about.clients then return { clients = about.clients, requests = about.count } end
  if about.rate_per_s < math.huge then
    return { rate_per_s = about.rate_per_s, duration_s = about.count / about.rate_per_s }
  end
  return { clients = about.count, requests = about.count }
end

--- A workload of stages, and of groups of prompts with one prefix each.
local function of_groups(about)
  return made("shared_prefix_stages", { groups = about.groups or 0, prompts_per_group = about.prompts_per_group,
    shared_prefix_tokens = about.prefix_tokens or 0, question_tokens = about.prompt_tokens,
    output_tokens = about.output_tokens, stages = about.stages or { loads.stage_of(about) }, gap_s = about.gap_s,
    arrivals = about.arrivals or about.even and "even" or "poisson", max_in_flight = about.most_in_flight or 0 })
end

--- {low, high} of lengths that are a number or uniform; nil for others.
local function ends_of(tokens)
  if type(tokens) == "number" then return tokens, tokens end
  if tokens.distribution == "uniform" then return tokens.min, tokens.max end
end

--- Clients that play conversations, turn after turn, with a whole number of seconds between them.
local function conversations(about, told)
  if not about.clients or about.stages or (about.groups or 1) > 1 then
    core.fail("--bench: conversations are read of clients that wait for answers: give others as a workload of the "
      .. "scenario")
  end
  local pause = about.pause_s
  if type(pause) == "number" and pause % 1 ~= 0 then
    pause = math.floor(pause + 0.5)
    told[#told + 1] = ("--bench: pauses between turns are whole seconds here: %d s"):format(pause)
  end
  return made("conversations", { conversations = about.conversations, clients = needed(about.clients, "clients"),
    num_requests = about.count, turns = about.turns, shared_tokens = about.prefix_tokens,
    private_tokens = about.private_tokens, prompt_tokens = about.prompt_tokens, output_tokens = about.output_tokens,
    pause_s = pause, max_context_tokens = about.max_context_tokens })
end

--- Requests at a rate of which so many are under way at most: the client of vLLM's benchmark.
local function limited(about, told)
  local in_low, in_high = ends_of(about.prompt_tokens)
  local out_low, out_high = ends_of(about.output_tokens)
  if not in_low or not out_low then return of_groups(about) end
  local function of(low, high)
    local mean = math.floor((low + high) / 2 + 0.5)
    return mean, mean > 0 and math.max(high - mean, mean - low) / mean or 0
  end
  local input, input_ratio = of(in_low, in_high)
  local output, output_ratio = of(out_low, out_high)
  told[#told + 1] = "--bench: gaps are rescaled so that the last of N requests is sent at N / rate"
  return made("vllm_bench", { num_prompts = about.count, request_rate = about.rate_per_s,
    max_concurrency = about.most_in_flight, random_input_len = input, random_output_len = output,
    random_range_ratio = { input = input_ratio, output = output_ratio }, burstiness = about.even and math.huge or 1 })
end

--- A workload.
---@param about table {prompt_tokens, output_tokens: a number or a distribution, count, rate_per_s (math.huge: at once),
---   clients (with one request each), most_in_flight (beside a rate), even (gaps), distinct_prompts,
---   shape (of gamma gaps), groups, prompts_per_group, prefix_tokens; stages, arrivals and gap_s of
---   shared_prefix_stages; turns, conversations, private_tokens, pause_s and max_context_tokens of conversations}
---@param told string[]
function loads.of(about, told)
  if about.turns then return conversations(about, told) end
  if about.groups or about.stages then return of_groups(about) end
  local own = { num_requests = about.count, prompt_tokens = about.prompt_tokens, output_tokens = about.output_tokens }
  local clients = about.clients or about.rate_per_s == math.huge and (about.most_in_flight or about.count)
  if clients then
    own.clients, own.distinct_prompts = math.min(needed(clients, "clients"), about.count), about.distinct_prompts
    return made("closed_loop", own)
  end
  if about.most_in_flight then return limited(about, told) end
  own.rate_per_s, own.shape = about.rate_per_s, about.shape
  return made(about.shape and "gamma" or about.even and "constant" or "poisson", own)
end

--- Images of one size or of several, in front of the prompts of a workload.
---@param images table? of workloads.with_pictures; nil: none
function loads.with_images(workload, images)
  return images and made("with_pictures", { of = workload, images = images }) or workload
end

--- Lengths of a turn of ShareGPT's chats, which stand for a file that is elsewhere.
---@param most number? tokens of a prompt, and of an answer
---@return table prompt_tokens, table output_tokens
function loads.sharegpt(told, most)
  local chat = policy.definition(chunks.shipped "workloads.chat").presets.sharegpt
  told[#told + 1] = "--bench: the lengths of ShareGPT are not in the command: those that were published of a turn of "
    .. "its chats stand for them (workloads.chat, preset sharegpt)"
  local function cut(lengths) return core.copy(core.plain(lengths), { max = most or lengths.max }) end
  return cut(chat.prompt_tokens), cut(chat.output_tokens)
end

local unstated_answer = 128 -- tokens, as of the default load of `run --from`

--- The length of an answer that a command leaves to the model.
---@param flag string that says it
function loads.unstated(flag, told)
  told[#told + 1] = ("--bench: %s is not stated: the model decides how long its answers are; %d tokens stand for them")
    :format(flag, unstated_answer)
  return unstated_answer
end

--- A trace that a command names by its file, which has to be here.
---@param flag string that names it
---@param about table parameters of workloads.trace
function loads.trace(path, flag, about)
  if not path or path == "" then core.fail("--bench: %s: which file is it? Its requests are the load", flag) end
  if not native.file_exists(files.place(path)) then
    core.fail("--bench: %s: %s is not here: its requests are the load", flag, native.printable(path))
  end
  return made("trace", core.copy(about, { path = path }))
end

local kinds_without_answers = { "embed", "pooling", "rank", "audio", "image_", "video_", "classif", "realtime" }

--- Refuses a back end or endpoint whose requests have no text as their answer.
---@param kind string? its name
function loads.check_answers(flag, kind)
  for _, part in ipairs(kinds_without_answers) do
    if kind and kind:lower():find(part, 1, true) then
      core.fail("--bench: %s %s: its requests have no answer of text, and are not simulated", flag,
        native.printable(kind))
    end
  end
end

--- A normal length, cut at 1; a number where nothing varies.
function loads.normal(mean, deviation, min, max)
  if not deviation or deviation == 0 then return math.floor(mean + 0.5) end
  return { distribution = "normal", mean = mean, deviation = deviation, min = min or 1, max = max }
end

--- Adds a sentence about names, where there are some.
function loads.tell(told, what, names)
  if #names > 0 then told[#told + 1] = ("--bench: %s: %s"):format(what, core.join(names, ", ")) end
end

--- The lengths of a dataset whose texts are elsewhere are not in a command.
function loads.refuse_dataset(name)
  core.fail("--bench: the lengths of the dataset '%s' are not in the command: give them as a workload of the scenario, "
    .. "or a recorded run as a trace (docs/CALIBRATING.md)", name)
end

return loads
