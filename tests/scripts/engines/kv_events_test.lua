-- How releases of vLLM tell of their KV caches, as the emulated server takes it.
local test = dofile "tests/scripts/harness.lua"
local served = require "rooflua.serving.served_kv_events"
local rows = require "engines.vllm.kv_events"

local function form(release)
  local out = served.form(rows, release)
  return ("%s; %s; %s; %s"):format(out.hash, out.events, table.concat(out.stored, " "), table.concat(out.removed, " "))
end

local function expect(release, expected) test.equal(form(release), expected, "vLLM " .. release) end

test("names and fields of blocks are those of the release", function()
  local first = "block_hashes parent_block_hash token_ids block_size lora_id"
  expect("0.10.1", "sha256_cbor_64bit; array; " .. first .. "; block_hashes")
  expect("0.11.2", "sha256_cbor; array; " .. first .. " medium; block_hashes medium")
  expect("0.15.0", "sha256_cbor; array; " .. first .. " medium lora_name; block_hashes medium")
  local newest = first .. " medium lora_name extra_keys group_idx kv_cache_spec_kind; block_hashes medium group_idx"
  expect("0.23.0", "sha256_cbor; array; " .. newest)
  expect("0.24.0", "sha256_cbor; map; " .. newest)
  expect("0.26.0", "sha256_cbor; map; " .. newest)
  test.equal(served.form(rows, "0.24.0").kind, "full_attention")
end)

test("before 0.10 only Python can name blocks", function() test.equal(served.form(rows, "0.9.2").hash, nil) end)

test("what no source shows of a release is told", function()
  for _, each in ipairs { "0.11.2", "0.15.0", "0.26.0", "0.29.0" } do
    test.equal(served.assumed(rows, each), nil, "vLLM " .. each)
  end
  local function tells(name, pattern)
    local told = served.assumed(rows, name)
    test.check(told and told:find(pattern) and told:find(name, 1, true), "vLLM %s: %s", name, tostring(told))
  end
  tells("0.10.1", "names of blocks, medium$")
  tells("0.19.0", "events as maps, extra_keys, group_idx, kv_cache_spec_kind$")
  tells("0.24.0", "seen: extra_keys, group_idx, kv_cache_spec_kind$")
  tells("0.30.0", "everything after 0.29.0$")
end)

test("each row has a source", function()
  for i, row in ipairs(rows) do test.check(row.source ~= nil, "row %d has none", i) end
end)

test.finish()
