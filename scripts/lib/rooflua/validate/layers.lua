-- Layer profiles as LLMServingSim writes them, rewritten as kernel tables in rooflua's layout:
--
--     dense.csv         layer, tokens, time_us             qkv_proj, o_proj, gate_up_proj, down_proj
--     per_sequence.csv  layer, sequences, time_us          lm_head
--     attention.csv     prefill_chunk, kv_prefill, n_decode, kv_decode, time_us      pure rows only
--
-- A profile is of one model and one tp; its rows become GEMMs and attention with the shapes of that model.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local layers = {}

local function shapes_of(model, tp)
  local hidden, inner = model.hidden_size, model.intermediate_size
  local q, kv = model.heads * model.head_dim, model.kv_heads * model.head_dim
  return {
    qkv_proj = { hidden, (q + 2 * kv) / tp }, o_proj = { q / tp, hidden },
    gate_up_proj = { hidden, 2 * inner / tp }, down_proj = { inner / tp, hidden },
    lm_head = { hidden, model.vocab_size / tp },
  }
end

local function write(path, header, lines)
  local file = io.open(path, "w") or core.fail("%s: cannot be written", path)
  file:write(header, "\n", table.concat(lines, "\n"), "\n")
  file:close()
end

local function gemm_lines(folder, model, tp)
  local shapes, lines = shapes_of(model, tp), {}
  for _, source in ipairs { { "dense.csv", "tokens" }, { "per_sequence.csv", "sequences" } } do
    for _, row in ipairs(native.csv_read(folder .. "/" .. source[1])) do
      local shape = shapes[row.layer]
      if shape then
        lines[#lines + 1] = ("%d,%d,%d,%.6g"):format(row[source[2]], shape[1], shape[2], row.time_us)
      end
    end
  end
  return lines
end

local function attention_lines(folder, model, tp)
  local prefill, decode = {}, {}
  local shape = ("%d,%d,%d"):format(model.heads / tp, model.kv_heads / tp, model.head_dim)
  for _, row in ipairs(native.csv_read(folder .. "/attention.csv")) do
    if row.n_decode == 0 and row.prefill_chunk > 0 then
      prefill[#prefill + 1] = ("%s,1,%d,%d,%.6g"):format(shape, row.kv_prefill, row.prefill_chunk, row.time_us)
    elseif row.prefill_chunk == 0 and row.n_decode > 0 then
      decode[#decode + 1] = ("%s,bf16,%d,%d,%.6g"):format(shape, row.n_decode, row.kv_decode, row.time_us)
    end
  end
  return prefill, decode
end

--- A name reduced to lower-case letters and digits, because the spelling of GPUs differs.
local function folded(name) return (name:lower():gsub("[^%w]", "")) end

--- The folder of a profile of that GPU, model and tp; nil if there is none.
--- @param root string with <GPU>/<organisation>/<model>/bf16/tp<N>
function layers.find(root, hardware, model_name, tp)
  for _, gpu in ipairs(native.list_folder(root, "")) do
    if folded(gpu) == folded(hardware.name) then
      local folder = ("%s/%s/%s/bf16/tp%d"):format(root, gpu, model_name, tp)
      if native.file_exists(folder .. "/attention.csv") then return folder end
    end
  end
end

--- Writes the tables of a profile into an empty folder.
function layers.write(folder, model, tp, to)
  write(to .. "/gemm_bf16.csv", "m,k,n,latency_us", gemm_lines(folder, model, tp))
  local prefill, decode = attention_lines(folder, model, tp)
  write(to .. "/attention_prefill_bf16.csv",
    "heads,kv_heads,head_dim,batch,context_tokens,new_tokens,latency_us", prefill)
  write(to .. "/attention_decode_bf16.csv", "heads,kv_heads,head_dim,kv_dtype,batch,context_tokens,latency_us", decode)
end

return layers
