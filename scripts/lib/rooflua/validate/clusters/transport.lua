-- What the column `transport` says of the way that KV takes between two pools:
--
--     how          RDMA (RoCE, InfiniBand), NVLink, TCP; what nothing states is RDMA, which a note says
--     how wide     a rate ("200 GB/s", "8 x 400 Gb/s"), else cards ("one NIC", "8 RoCE ports"), else a card a rank
--     direction    a pull inside of a node without RDMA goes over TCP, a push does not
local core = require "rooflua.base.core"

local transport = {}

--- A way: `alpha_s` before the first byte of a prompt; `part` of the line rate that a pair of replicas reaches;
--- `bytes_per_s` of a pair, where the way itself is the limit; `descriptor_s` of each contiguous piece of KV.
transport.ways = {
  -- From the times of 20, 578 and 4,500 MB that Mooncake's documentation publishes for eight cards of 200 Gb/s (0.54,
  -- 4.75 and 31.65 ms); those of 146 and 1,130 MB, left out, come within 7 % (1.50 and 8.84 ms). Pieces cost nothing:
  -- NIXL reaches the line rate from 16 KiB a piece on (LMCache pull request 4161).
  rdma = { alpha_s = 0.0004, part = 0.72, descriptor_s = 0 },
  -- NIXL over cuda_ipc: the same KV in a quarter of the pieces takes 47 and not 105 ms, of about 37,000 pieces of 8 KB
  -- (vLLM issue 50913); a message of cuda_ipc takes 2.3 us by itself (openucx/ucx issue 3740). They go in turn.
  nvlink = { alpha_s = 0.0004, part = 1, descriptor_s = 2.1e-6 },
  -- vLLM issue 52607: 0.5 GB/s where cuda_ipc does not serve a remote read, 49 GB/s for a write on the same machine.
  tcp = { alpha_s = 0.0004, part = 1, bytes_per_s = 0.5e9, descriptor_s = 0 },
  push = { alpha_s = 0.0004, part = 1, bytes_per_s = 49e9, descriptor_s = 0 },
}

local words = { { "tcp", "tcp" }, { "nvlink", "nvlink" }, { "mnnvl", "nvlink" }, { "cuda.ipc", "nvlink" },
  { "rdma", "rdma" }, { "roce", "rdma" }, { "infiniband", "rdma" }, { "%f[%w]ib%f[%W]", "rdma" } }

--- The name of a way in transport.ways; nil where a text names none.
function transport.way_in(text)
  local said = text:lower()
  local has_none = said:find "without rdma" or said:find "no rdma"
  for _, each in ipairs(words) do
    if said:find(each[1]) and not (has_none and each[2] == "rdma") then return each[2] end
  end
  if has_none then return said:find "%f[%a]push" and "push" or "tcp" end
end

local counts = { one = 1, single = 1, two = 2, four = 4, eight = 8 }

--- Bytes per second of all cards together, as a text states them; nil where it does not.
local function stated_rate(text)
  local bytes = tonumber(text:match "([%d.]+) GB/s")
  if bytes then return bytes * 1e9 end
  local count, bits = text:match "(%d+) ?x ?([%d.]+) ?Gb/s"
  bits = bits or text:match "([%d.]+) ?Gb/s"
  return bits and (tonumber(count) or 1) * tonumber(bits) / 8 * 1e9 or nil
end

--- The cards that a text counts; nil where it does not.
local function stated_cards(text)
  local said = text:lower()
  for _, noun in ipairs { "nics?%f[%A]", "ports?%f[%A]", "cards?%f[%A]" } do
    local word = said:match("(%w+) %a*%s?" .. noun) or said:match("(%w+) " .. noun)
    local count = word and (tonumber(word) or counts[word])
    if count then return count end
  end
end

--- Bytes of a contiguous piece of KV at a rank: a block of one layer, keys and values apart.
local function piece_bytes(model, about)
  local ranks = model.mla and 1 or about.tp
  local tensors = model.layers * (model.mla and 1 or 2)
  return about.token_bytes * about.block_tokens / ranks / tensors
end

--- Bytes per second of a rank whose pieces are sent one after the other.
local function with_pieces(bytes_per_s, piece, descriptor_s) return piece / (piece / bytes_per_s + descriptor_s) end

--- @param text string the column
--- @param about table {hardware, model, tp = the smaller width of the two pools, token_bytes, block_tokens}
--- @return table {alpha_s, bytes_per_s} of a pair of replicas
function transport.of(text, about, notes)
  local hardware, name = about.hardware, transport.way_in(text)
  local way = transport.ways[name or "rdma"]
  local card = hardware.network_bytes_per_s > 0 and hardware.network_bytes_per_s or hardware.link_bytes_per_s
  local ranks = name == "nvlink" and about.tp or stated_cards(text) or about.tp
  local rate = way.bytes_per_s or stated_rate(text)
    or ranks * (name == "nvlink" and hardware.link_bytes_per_s or card)
  if not name then
    notes[#notes + 1] = ("the transport of KV is not stated: RDMA, %g GB/s for a pair of replicas"):format(
      rate * way.part / 1e9)
  end
  if way.descriptor_s > 0 then
    rate = about.tp * with_pieces(rate / about.tp, piece_bytes(about.model, about), way.descriptor_s)
  end
  return { alpha_s = way.alpha_s, bytes_per_s = rate * way.part }
end

--- Names of the ways, for documents.
function transport.names() return core.sorted_keys(transport.ways) end

return transport
