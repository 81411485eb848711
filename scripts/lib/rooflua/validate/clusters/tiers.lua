-- The KV tiers of a measured cluster as the keys `links` and `tiers` of a scenario.
--
--     offload      none, or where KV goes besides the GPU: cpu, cpu+fs, cpu+nvme, cpu+pool+ssd
--     capacity     the blocks, else the bytes that the engine was given; else tokens. What a token takes follows from
--                  the model, not from the page
--     peers        an arm whose connector or router pulls from other replicas
--
-- CPU memory is read over the link between GPUs and their host, which follows from the GPU.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local vllm = require "engines.vllm.tiers"

local tiers = {}

--- Bytes per second of a node's drives and of a shared file system, where they are not stated (assumed).
local drive_bytes_per_s, file_bytes_per_s = 12e9, 20e9
--- Bytes per second of one GPU's network card, where its hardware.toml states none: 400 Gb/s.
local card_bytes_per_s = 50e9

--- What a part of the column `offload` is: its scope, its link (nil: the host's), and its capacity where none is
--- stated.
local parts = {
  cpu = { per = "replica" },
  nvme = { per = "node", link = "drive", capacity_bytes = 4e12 },
  ssd = { per = "node", link = "drive", capacity_bytes = 4e12 },
  fs = { per = "cluster", link = "files", capacity_bytes = 1e15 },
  ceph = { per = "cluster", link = "files", capacity_bytes = 1e15 },
  pool = { per = "cluster", link = "nic" },
}

--- "pool 80 GB" or "about 100 GiB" in a text, in bytes.
local function bytes_in(text, word)
  local number, unit = text:lower():match((word or "") .. "[^%d]*(%d[%d.,]*)%s*(gi?b)")
  number = number and tonumber((number:gsub(",", "")))
  return number and number * (unit == "gib" and 2 ^ 30 or 1e9) or nil
end

--- Bytes of the CPU tier of a replica.
local function cpu_bytes(row, token_bytes, notes)
  local block = row.block_tokens or 16
  if row.offload_blocks_per_replica then return row.offload_blocks_per_replica * block * token_bytes end
  if row.offload_bytes_per_replica then return row.offload_bytes_per_replica end
  if row.offload_tokens_per_replica then return row.offload_tokens_per_replica * token_bytes end
  local said = bytes_in(row.offload_basis)
  if not said then core.fail("%s: offload: the capacity of the CPU tier is not stated", row.where) end
  notes[#notes + 1] = "capacity of the CPU tier: as its remark says"
  return said
end

--- Whether replicas read what others have.
function tiers.has_peers(row)
  local said = (row.router .. " " .. row.arm):lower()
  return said:find "pull" ~= nil or said:find "p2p" ~= nil
end

--- What decides what is loaded and stored: the connector that the row names.
local function policy_of(row, stores)
  local said = row.offload_connector:lower()
  local name, parameters = #stores > 1 and "vllm_tiered" or "vllm_cpu", nil
  if said:find "lmcache" then
    name = "lmcache"
  elseif said:find "hicache" then
    name = "hicache"
  elseif tiers.has_peers(row) then
    name = "peer"
    local least = tonumber(row.router_settings:match "minCachedTokenDelta=(%d+)")
    parameters = { min_tokens = least or 0 }
  end
  local out = policies.of(Reader.new "validate", "tiers.policy", name)
  return parameters and policy.with(out, parameters) or out
end

--- Whether a row has KV somewhere else than in the GPU.
function tiers.has(row) return row.offload ~= "" and row.offload ~= "none" end

--- How often the CPU's memory of a token is its KV, of vLLM's own connector; blocks that a row counts are whole.
local function slots_of(row, about)
  if not row.offload_connector:lower():find "^offloadingconnector" or row.offload_blocks_per_replica then return 1 end
  return vllm.slot_factor(native.rank_counts(about.model, {}).kinds, about.before)
end

local function stores_of(row, token_bytes, slots, notes)
  local out, used = {}, {}
  for name in row.offload:lower():gmatch "[^+%s]+" do
    local part = parts[name] or core.fail("%s: offload: %s", row.where,
      core.unknown_name("store", name, core.sorted_keys(parts)))
    local capacity = name == "cpu" and cpu_bytes(row, token_bytes, notes) or bytes_in(row.offload_connector, name)
    if not capacity and part.capacity_bytes then
      capacity = part.capacity_bytes
      notes[#notes + 1] = ("capacity of '%s' is not stated: %g TB"):format(name, capacity / 1e12)
    end
    if not capacity then core.fail("%s: offload: the capacity of '%s' is not stated", row.where, name) end
    local store = { name = name, capacity_bytes = name == "cpu" and capacity / slots or capacity, per = part.per }
    if part.link then store.read, used[part.link] = { part.link }, true end
    out[#out + 1] = store
  end
  if tiers.has_peers(row) then out[1].peers, used.nic = { "nic" }, true end
  return out, used
end

--- @param about table {model, hardware, tp, kv, before = fun(release): whether the engine's is earlier}
--- @return table? links, table? tiers; nil where the row has none
function tiers.of(row, about, notes)
  if not tiers.has(row) then return nil end
  local token_bytes = native.kv_of_prompts(about.model, about.kv or "bf16").bytes_per_token
  local slots = slots_of(row, about)
  if slots > 1 then
    notes[#notes + 1] = ("CPU memory: each token takes %.3g times its KV, as slots have room for all groups of layers")
      :format(slots)
  end
  local stores, used = stores_of(row, token_bytes, slots, notes)
  local card = about.hardware.network_bytes_per_s
  local all = { nic = { bytes_per_s = (card > 0 and card or card_bytes_per_s) * about.tp, per = "replica" },
    drive = { bytes_per_s = drive_bytes_per_s, per = "node" },
    files = { bytes_per_s = file_bytes_per_s, per = "cluster" } }
  local links = {}
  for name in core.sorted_pairs(used) do
    links[name] = all[name]
    if name ~= "nic" or card == 0 then
      notes[#notes + 1] = ("bandwidth of '%s' is not stated: %g GB/s"):format(name, all[name].bytes_per_s / 1e9)
    end
  end
  return next(links) and links or nil, { policy = policy_of(row, stores), stores = stores }
end

return tiers
