-- `aiperf profile`. Flags: docs of AIPerf, "Command Line Options". Defaults: config_defaults.py in
-- src/aiperf/common/config.
local core = require "rooflua.base.core"
local loads = require "rooflua.bench.loads"

local least_requests, per_client = 10, 2 -- MIN_REQUEST_COUNT, REQUEST_COUNT_MULTIPLIER

local function refuse(values)
  for _, name in ipairs { "input-file", "public-dataset", "fixed-schedule", "conversation-turn-mean" } do
    local value = values[name]
    if value and not (name == "conversation-turn-mean" and value == 1) then
      core.fail("--bench: --%s: such a load is not in the command: give it as a workload of the scenario", name)
    end
  end
end

return {
  title = "aiperf profile",
  starts = { "aiperf profile" },
  aliases = { ["synthetic-input-tokens-mean"] = "isl", ["prompt-input-tokens-mean"] = "isl",
    ["synthetic-input-tokens-stddev"] = "isl-stddev", ["prompt-input-tokens-stddev"] = "isl-stddev",
    ["output-tokens-mean"] = "osl", ["prompt-output-tokens-mean"] = "osl", ["output-tokens-stddev"] = "osl-stddev",
    ["prompt-output-tokens-stddev"] = "osl-stddev", ["num-requests"] = "request-count",
    ["num-prompts"] = "num-dataset-entries", ["num-conversations"] = "num-dataset-entries",
    ["conversation-num"] = "num-dataset-entries", ["arrival-pattern"] = "request-rate-mode" },
  flags = { isl = "number", ["isl-stddev"] = "number", osl = "number", ["osl-stddev"] = "number",
    concurrency = "whole", ["request-rate"] = "number", ["request-rate-mode"] = "text", ["request-count"] = "whole",
    ["benchmark-duration"] = "number", ["num-dataset-entries"] = "whole", ["num-prefix-prompts"] = "whole",
    ["prefix-prompt-length"] = "whole", ["shared-system-prompt-length"] = "whole", ["input-file"] = "text",
    ["public-dataset"] = "text", ["fixed-schedule"] = "switch", ["conversation-turn-mean"] = "number" },
  without_effect = { model = "value", m = "value", url = "value", u = "value", endpoint = "value",
    ["endpoint-type"] = "value", streaming = "switch", tokenizer = "value", ["tokenizer-trust-remote-code"] = "switch",
    ["random-seed"] = "value", ["warmup-request-count"] = "value", ui = "value", ["ui-type"] = "value",
    ["extra-inputs"] = "values", header = "values", ["artifact-dir"] = "value", goodput = "value",
    ["record-processors"] = "value", ["workers-max"] = "value", ["use-server-token-count"] = "switch",
    ["export-level"] = "value", ["profile-export-file"] = "value", verbose = "switch", v = "switch",
    ["request-timeout-seconds"] = "value", ["slice-duration"] = "value", ["benchmark-grace-period"] = "value",
    ["server-metrics"] = "values", ["no-server-metrics"] = "switch", ["gpu-telemetry"] = "values" },
  workload = function(values, told)
    refuse(values)
    if not values.osl then
      core.fail "--bench: --osl: without it the model decides how long its answers are; give --osl TOKENS"
    end
    local rate = values["request-rate"]
    local clients = values.concurrency or not rate and 1 or nil
    local about = { rate_per_s = rate, clients = not rate and clients or nil, even = values["request-rate-mode"]
      == "constant", most_in_flight = rate and clients or nil, prompt_tokens = loads.normal(values.isl or 550,
      values["isl-stddev"]), output_tokens = loads.normal(values.osl, values["osl-stddev"]) }
    about.count = loads.count({ count = values["request-count"], duration_s = values["benchmark-duration"],
      rate_per_s = rate, otherwise = math.max(least_requests, per_client * (clients or 1)) }, told)
    local prefix = values["shared-system-prompt-length"] or values["prefix-prompt-length"] or 0
    if prefix > 0 then
      about.groups = values["shared-system-prompt-length"] and 1 or math.max(1, values["num-prefix-prompts"] or 1)
      about.prefix_tokens, about.prompts_per_group = prefix, math.max(1, math.ceil(about.count / about.groups))
    elseif about.clients then
      about.distinct_prompts = math.min(values["num-dataset-entries"] or about.count, about.count)
    end
    return loads.of(about, told)
  end,
}
