#pragma once
// The replicas of a cluster: how each is configured, what a router may know of them, and how
// prefill and decode can be split between them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/vocabulary.h"
#include "border.h"
#include "base/json.h"
#include "serve/adapters/config.h"
#include "serve/contract/clock.h"
#include "serve/contract/policy.h"
#include "serve/contract/request.h"
#include "serve/events/stage_clock.h"
#include "serve/kv/kv_cache.h"
#include "serve/links/kv_links.h"
#include "serve/replica/pool.h"
#include "serve/stores/config.h"
#include "spec/figures/figure.h"

namespace rooflua {

enum class Role : std::int32_t { both, prefill, decode };
inline constexpr Word<Role> role_words[] = {
    {Role::both, "both", "computes prompts and answers"},
    {Role::prefill, "prefill",
     "computes prompts and sends the KV on; the client sees no token of it"},
    {Role::decode, "decode", "gets prompts with their KV"},
};

/// From when on KV of a prompt is content that other requests hit. Generated tokens are content as
/// their blocks are filled by plans with `plan`, and else when their request gives its blocks back.
enum class ContentFrom : std::int32_t { plan, step, prompt };
inline constexpr Word<ContentFrom> content_from_words[] = {
    {ContentFrom::plan, "plan", "as soon as a plan computes it"},
    {ContentFrom::step, "step",
     "when the step ends that computes it; of a chunk that is not the last one with the next plan"},
    {ContentFrom::prompt, "prompt", "when the step ends that computes the last of the prompt"},
};

/// A member with a row in figures.cpp has its unit, its bounds and its sentence there.
struct ReplicaConfig {
  std::string name = {};
  std::int32_t kv_blocks = 0;
  std::int32_t seat_blocks = 0;
  std::int32_t block_size = 16;
  std::int32_t max_num_seqs = 0;
  std::int32_t max_num_batched_tokens = 0;
  std::optional<std::int32_t> max_model_len = {};
  std::int32_t async_depth = 1;
  std::array<std::int32_t, 4> context_caps{};  // tokens; 0 = unused; Batch::bounded_tokens
  std::int32_t context_chunk = 0;
  bool prefix_caching = true;
  bool real_blocks = false;  // PrefixIndex::shared even where requests share no tokens
  ContentFrom content_from = ContentFrom::plan;
  bool partial_reuse = false;
  Role role = Role::both;
  /// Decoding requests may advance by different numbers (lanes/ragged_pool.h). Set where the
  /// replica has a speculator; without one each of them gets one token. A prefill replica ignores
  /// this and what follows of speculation.
  bool ragged = false;
  std::int32_t lookahead = 0;
  bool drops_last_hit = false;
  bool keeps_states = false;
  std::int32_t state_blocks = 0;
  std::int64_t seed = 0;
  std::int32_t group = -1;
  std::int32_t node = -1;
  double dp_sync_s = 50e-6;
  StageConfig stages;  // of its layers; seats, blocks and budget are those of all of them
  AdapterSlotsConfig adapters = {};
};

/// Time from the end of the prefill to the KV being at the other replica: alpha + bytes(prompt) /
/// bandwidth. The prefill replica holds the blocks until then. Its token is discarded: the first
/// token that the client sees comes from the decode replica, which always computes at least one
/// token.
struct KvTransfer {
  double alpha_s = 0;
  double bytes_per_s = 0;  // > 0 where there are prefill replicas and no path
  double bytes_per_token = 0;
  double fixed_bytes = 0;
  /// Layers that keep so many tokens at most (a window, a chunk).
  struct Bounded {
    double bytes_per_token = 0;
    std::int32_t tokens = 0;
  };
  std::vector<Bounded> bounded = {};
  /// Over which of ClusterConfig::links, whose wires transfers share. None: each has a wire of its
  /// own, of bytes_per_s. With a path bytes_per_s is the most that one transfer gets; 0: no limit.
  KvPath path = {};
  bool over_links() const { return !path.between.empty(); }
  /// Nodes of encoders whose embeddings go over these links as well, -1: one of its own each.
  std::vector<std::int32_t> encoder_nodes = {};

  /// What is sent of a prompt: fixed + growing * tokens + sum of bounded * min(tokens, bound).
  double bytes(std::int32_t tokens) const;
};

/// The replica that is chosen first for a prompt.
enum class SplitOrder : std::int32_t { prefill_first, decode_first };
inline constexpr Word<SplitOrder> split_order_words[] = {
    {SplitOrder::prefill_first, "prefill_first",
     "a prefill replica; the decode replica when there is KV to send"},
    {SplitOrder::decode_first, "decode_first",
     "a decode replica; then a decider says whether a prefill replica computes the prompt"},
};

/// When KV of a prompt sets off.
enum class Push : std::int32_t { end, chunks, layers };
inline constexpr Word<Push> push_words[] = {
    {Push::end, "end", "when the prompt is computed and the decode replica asks for it"},
    {Push::chunks, "chunks", "that of each chunk, when the step that computed it ends"},
    {Push::layers, "layers", "that of each chunk, layer by layer while its step runs"},
};

/// How prefill and decode replicas work together. A member with a row in figures.cpp has its unit,
/// its bounds and its sentence there.
/// @source push: end: vLLM distributed/kv_transfer/kv_connector/v1/nixl; chunks: SGLang
/// srt/disaggregation/prefill.py (send_kv_chunk); layers: vllm-project/vllm-ascend
/// vllm_ascend/distributed/kv_transfer/kv_p2p/mooncake_layerwise_connector.py
struct Disaggregation {
  SplitOrder order = SplitOrder::prefill_first;
  Push push = Push::end;
  double lease_s = 0;
};

/// Latency before and after the engine, off the critical path of the replicas.
/// A request reaches its replica at arrival + base + per_prompt_token * prompt; every token reaches
/// the client per_output_token later than the end of its step (a constant, so gaps stay).
/// What takes time of servers or of the clients' process queues there (parts/stations). A member
/// has its unit, its bounds and its sentence in figures.cpp.
struct Frontend {
  double base_s = 0, per_prompt_token_s = 0, per_output_token_s = 0;
  double server_request_s = 0, server_prompt_token_s = 0, server_chunk_s = 0;
  std::int32_t servers = 1, server_turns = 1, egress_servers = 0, stream_interval = 1;
  double client_request_s = 0, client_chunk_s = 0;
  bool queues() const {
    return server_request_s + server_prompt_token_s + server_chunk_s + client_request_s +
               client_chunk_s > 0;
  }
};

struct ClusterConfig {
  std::vector<ReplicaConfig> replicas;
  KvTransfer transfer;
  Frontend frontend;
  Disaggregation disaggregation = {};
  std::vector<LinkConfig> links = {};
  TiersConfig tiers = {};              // of every replica that computes prompts
  std::vector<PoolConfig> pools = {};  // replicas of none are always there (lifecycle.h)
  AdapterChoice adapters = {};
  Json asked = Json::object();  // what a run says of its parts, by their names: true, or settings
};

/// Load of one replica as a router may see it (border.h).
using ReplicaSignals = rooflua_signals;

/// What a router may ask of a replica besides its signals. The numbers are those of border.h.
enum class RouterFact : std::int32_t {
  sent_tokens,     // of the routed prompt, that the router sent there before, in whole blocks
  stored_tokens,   // of the routed request, that stores have after those in the GPU
  prefill_tokens,  // of prompts in flight: not cached, and their first token has not come
  blocks,          // of prompts in flight, each once
  shared_blocks,   // of the routed prompt, that are among these blocks, from the left
  sent_blocks,     // of all prompts, that the router remembers to have sent there
  has_adapter,     // 1: the routed request's adapter is in a slot there, or it has none
  rank_requests,   // that wait there, run, or whose KV is on its way there
  rank_tokens,     // of the prompts of these
  rank_seats,      // that are left for others
};

/// The requests that are routed, and what the replicas have cached of them.
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  virtual const Requests& requests() const noexcept = 0;
  /// Tokens of the request in this slot that this replica has cached now, however stale the signals
  /// are.
  virtual std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept = 0;
  /// The candidate with the fewest outstanding requests, as a place in view.candidates; the first
  /// of equal ones.
  virtual std::int32_t least_outstanding(const rooflua_route_view& view) const noexcept = 0;
  /// Candidates that have some of the routed request cached, as increasing places in
  /// view.candidates. Valid until the next call.
  virtual std::span<const std::int32_t> prefix_holders(
      const rooflua_route_view& view) const noexcept = 0;
  /// The same of candidates to which the router sent some of the routed prompt.
  virtual std::span<const std::int32_t> sent_holders(
      const rooflua_route_view& view) const noexcept = 0;
  /// What the router knows of this replica now; 0 where it does not keep such a fact.
  virtual double fact(const rooflua_route_view& view, std::int32_t replica,
                      RouterFact what) const noexcept = 0;
};

/// Tokens of the routed request that this replica has cached; 0 if there is no such replica.
std::int32_t cached_tokens(const RouteView& view, std::int32_t replica) noexcept;

template <>
const FigureTable& figures<ReplicaConfig>();
template <>
const FigureTable& figures<StageConfig>();
template <>
const FigureTable& figures<StageLink>();
template <>
const FigureTable& figures<KvTransfer>();
template <>
const FigureTable& figures<KvTransfer::Bounded>();
template <>
const FigureTable& figures<Frontend>();
template <>
const FigureTable& figures<Disaggregation>();

/// @throws Error at "WHEREshares[2]" if it is not from 0 to 1
void check_shares(const StageConfig& stages, const std::string& where);
/// The node of each replica, ReplicaConfig::node or one of its own, and behind them of each
/// encoder.
std::vector<std::int32_t> nodes_of(const ClusterConfig& config);
/// @throws Error naming the key ("replicas[2].kv_blocks") and what would be right
void validate(const ClusterConfig& config);

}  // namespace rooflua
