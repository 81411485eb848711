-- The KV tiers of a measured cluster as the keys `links` and `tiers` of a scenario.
--
--     offload            none, or where KV goes besides the GPU: cpu, cpu+fs, cpu+nvme, cpu+pool+ssd
--     capacity           blocks and bytes that the engine was given; else the tokens that the row states. The size of a
--                        token follows from the model
--     peers              a connector or router that pulls from other replicas
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"

local tiers = {}

--- Bytes per second of one GPU's link to its host, in one direction, by architecture: PCIe 5 and 4 x16 as nvbandwidth
--- sees them.
local host_link = { hopper = 55e9, blackwell = 55e9, ampere = 25e9, ada = 25e9 }
local other_host_link = 25e9

--- Bytes per second of drives and file systems where nobody states them.
local drive_bytes_per_s, file_bytes_per_s = 12e9, 20e9
--- A file system holds as much as is asked for.
local endless_bytes = 1e15

--- What a part of the column `offload` is: the scope of its store, its links, and its capacity where none is stated.
local parts = {
  cpu = { per = "replica", links = { "host" } },
  nvme = { per = "node", links = { "drive", "host" }, capacity_bytes = 4e12 },
  ssd = { per = "node", links = { "drive", "host" }, capacity_bytes = 4e12 },
  fs = { per = "cluster", links = { "files", "host" }, capacity_bytes = endless_bytes },
  ceph = { per = "cluster", links = { "files", "host" }, capacity_bytes = endless_bytes },
  pool = { per = "cluster", links = { "nic", "host" } },
}

--- "pool 80 GB" or "about 100 GiB" in a text, in bytes.
local function bytes_in(text, word)
  local number, unit = text:match((word or "") .. "[^%d]*(%d[%d.,]*)%s*(G[i]?B)")
  number = number and tonumber((number:gsub(",", "")))
  return number and number * (unit == "GiB" and 2 ^ 30 or 1e9) or nil
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

--- Which engine's rules decide what is loaded and stored.
local function policy_name(row)
  local said = row.offload_connector:lower()
  if said:find "lmcache" then return "lmcache" end
  if said:find "hicache" then return "hicache" end
  return "vllm_cpu"
end

--- Whether replicas read what others have: the router sends a request with the source, or the arm pulls.
local function has_peers(row)
  local said = (row.router .. " " .. row.router_settings .. " " .. row.arm):lower()
  return said:find "pull" ~= nil or said:find "p2p" ~= nil
end

--- Whether a row has KV somewhere else than in the GPU.
function tiers.has(row) return row.offload ~= "" and row.offload ~= "none" end

local function stores_of(row, token_bytes, notes)
  local out, used = {}, {}
  for name in row.offload:lower():gmatch "[^+%s]+" do
    local part = parts[name] or core.fail("%s: offload: %s", row.where,
      core.unknown_name("store", name, core.sorted_keys(parts)))
    local capacity = name == "cpu" and cpu_bytes(row, token_bytes, notes)
      or bytes_in(row.offload_connector:lower(), name) or part.capacity_bytes
    if not capacity then core.fail("%s: offload: the capacity of '%s' is not stated", row.where, name) end
    local back = {}
    for i = #part.links, 1, -1 do back[#back + 1] = part.links[i] end
    out[#out + 1] = { name = name, capacity_bytes = capacity, per = part.per, read = core.copy(part.links), write = back }
    for _, link in ipairs(part.links) do used[link] = true end
  end
  if has_peers(row) then
    out[1].peers, used.nic = { "nic" }, true
  end
  return out, used
end

--- @param about table {model, hardware, tp, kv}
--- @return table? links, table? tiers; nil where the row has none
function tiers.of(row, about, notes)
  if not tiers.has(row) then return nil end
  local token_bytes = about.model:kv_bytes_per_token(about.kv)
  local stores, used = stores_of(row, token_bytes, notes)
  local host = host_link[about.hardware.architecture] or other_host_link
  local network = about.hardware.network_bytes_per_s > 0 and about.hardware.network_bytes_per_s or host
  local all = { host = { bytes_per_s = host * about.tp, per = "replica" },
    nic = { bytes_per_s = network * about.tp, per = "replica" },
    drive = { bytes_per_s = drive_bytes_per_s, per = "node" },
    files = { bytes_per_s = file_bytes_per_s, per = "cluster" } }
  local links = {}
  for name in pairs(used) do links[name] = all[name] end
  local policy = policies.of(Reader.new "validate", "tiers.policy", policy_name(row))
  return links, { policy = policy, stores = stores }
end

return tiers
