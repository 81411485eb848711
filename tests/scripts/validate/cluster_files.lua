--- CSVs and profiles of measured clusters with invented figures, for the tests of validation. A row leaves out what
--- these defaults have.
local columns = { "id", "kind", "deployment", "pair", "arm", "arm_role", "quality", "needs", "model", "weights_format",
  "gpu", "layout", "replicas", "tp", "prefill_replicas", "prefill_tp", "decode_replicas", "decode_tp", "engine",
  "engine_version", "kv_tokens_per_replica", "block_tokens", "max_num_seqs", "max_model_len", "prefix_caching",
  "other_settings", "offload", "offload_connector", "offload_bytes_per_replica", "offload_tokens_per_replica",
  "offload_blocks_per_replica", "offload_basis", "router", "router_settings", "transport", "workload", "load_kind",
  "rate_rps", "concurrency", "stage_index", "stage_duration_s", "requests", "prompt_tokens", "output_tokens",
  "timeout_s", "client", "output_tok_s", "total_tok_s", "requests_s", "ttft_mean_s", "ttft_p50_s", "ttft_p90_s",
  "e2e_mean_s", "e2e_p50_s", "tpot_mean_ms", "output_tokens_mean", "prefill_tok_s", "transfer_ms", "transfer_bytes",
  "notes", "speculation", "accept_len", "users", "first_token_timeout_s", "trace_file" }
local defaults = { kind = "routers", deployment = "one", quality = "A", model = "meta-llama/Llama-3.1-8B-Instruct",
  weights_format = "bf16", gpu = "H100", tp = 1, replicas = 1, engine = "vllm", engine_version = "0.19.0",
  layout = "agg" }

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

--- @param test table the harness
--- @return function files(rows, profiles = {name = text of JSON}, about = {more = further columns}): a new folder with
---   rows.csv and profiles/; returns the folder and the path of the CSV
return function(test)
  local count = 0
  return function(rows, profiles, about)
    count = count + 1
    local folder = ("%s/clusters%d"):format(test.folder(), count)
    assert(os.execute(("mkdir -p %s/profiles"):format(folder)) == 0)
    local used = {}
    for i, name in ipairs(columns) do used[i] = name end
    for _, name in ipairs(about and about.more or {}) do used[#used + 1] = name end
    local lines = { table.concat(used, ",") }
    for i, row in ipairs(rows) do
      local cells = {}
      for at, name in ipairs(used) do
        local value = row[name]
        if value == nil then value = name == "id" and "row" .. i or defaults[name] or "" end
        cells[at] = ('"%s"'):format(tostring(value):gsub('"', '""'))
      end
      lines[i + 1] = table.concat(cells, ",")
    end
    write(folder .. "/rows.csv", table.concat(lines, "\n") .. "\n")
    for name, text in pairs(profiles or {}) do write(("%s/profiles/%s.json"):format(folder, name), text) end
    return folder, folder .. "/rows.csv"
  end
end
