-- How releases of vLLM tell of their KV caches, as the emulated server takes it.
local test = dofile "tests/scripts/harness.lua"
local served = require "rooflua.serving.served_kv_events"
local rows = require "engines.vllm.kv_events"

local function form(release)
  local out = served.form(rows, release)
  return table.concat({ out.hash or "none", out.events, table.concat(out.stored, " "), table.concat(out.removed, " ") }, "; ")
end

local function expect(release, expected) test.equal(form(release), expected, "vLLM " .. release) end
local first = "block_hashes parent_block_hash token_ids block_size lora_id"

test.equal(served.form(rows, "0.9.2").hash, nil, "before 0.10 hashes are Python's")
expect("0.10.1", "sha256_cbor_64bit; array; " .. first .. "; block_hashes")
expect("0.11.2", "sha256_cbor; array; " .. first .. " medium; block_hashes medium")
expect("0.15.0", "sha256_cbor; array; " .. first .. " medium lora_name; block_hashes medium")
local newest = first .. " medium lora_name extra_keys group_idx kv_cache_spec_kind; block_hashes medium group_idx"
expect("0.23.0", "sha256_cbor; array; " .. newest)
expect("0.24.0", "sha256_cbor; map; " .. newest)
expect("0.26.0", "sha256_cbor; map; " .. newest)
test.equal(served.form(rows, "0.24.0").kind, "full_attention", "one group of layers")
for i, row in ipairs(rows) do test.check(row.source ~= nil, ("row %d has a source"):format(i)) end

test.finish()
