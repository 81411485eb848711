// The figures of a cluster's configuration, one row each.

#include "serve/replica/cluster.h"
#include "spec/figures/deployment.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using enum Stated;
using Config = ReplicaConfig;

constexpr double most = 2147483647, most_bytes = 1e15;

constexpr auto replica_rows = rows_of<Config>(
    figure<&Config::name>("name", open, "what reports call it; default its number"),
    figure<&Config::kv_blocks>("kv_blocks", "blocks", 1, most_kv_blocks, needed,
                               "usable KV blocks"),
    figure<&Config::seat_blocks>("seat_blocks", "blocks", 0, most_kv_blocks, open,
                                 "KV blocks that a request holds besides those of its tokens"),
    figure<&Config::block_size>("block_size", "tokens", 1, most_block_size, open,
                                "tokens in a KV block"),
    figure<&Config::max_num_seqs>("max_num_seqs", "requests", 0, most, open, "seats; 0: no limit"),
    figure<&Config::max_num_batched_tokens>("max_num_batched_tokens", "tokens", 0, most, open,
                                            "most tokens in a step; 0: no limit"),
    figure<&Config::max_model_len>("max_model_len", "tokens", 1, most, open,
                                   "longer requests are refused"),
    figure<&Config::async_depth>("async_depth", "steps", 1, 2, open,
                                 "the state that plan k sees is that after step k - async_depth"),
    figure<&Config::context_chunk>("context_chunk", "tokens", 0, 1e9, open,
                                   "of Batch::chunk_tokens; 0: unused"),
    figure<&Config::prefix_caching>("prefix_caching", open,
                                    "whether equal prefixes share KV blocks"),
    word<&Config::content_from, content_from_words>("content_from", open,
                                                    "from when on KV of a prompt is hit"),
    figure<&Config::partial_reuse>("partial_reuse", open,
                                   "whether a prefix hit ends inside of a KV block; else with a "
                                   "whole one"),
    word<&Config::role, role_words>("role", open, "what this replica does for a request"),
    figure<&Config::lookahead>("lookahead", "tokens", 0, 1e6, open,
                               "tokens beyond those of a row that blocks are asked for"),
    figure<&Config::drops_last_hit>("drops_last_hit", open,
                                    "a prefix hit loses its last block: the drafter needs its "
                                    "states"),
    figure<&Config::keeps_states>("keeps_states", open,
                                  "prefix hits end where recurrent states were kept: after a "
                                  "prompt's chunk or a request"),
    figure<&Config::state_blocks>("state_blocks", "blocks", 0, most_kv_blocks, open,
                                  "KV blocks of the cache that a kept state takes; 0: none"),
    figure<&Config::seed>("seed", "1", 0, 9007199254740992, open, "of the streams \"acceptance\""),
    figure<&Config::group>("group", "1", -1, 1e6, open,
                           "replicas with the same number step together; -1: this one alone"),
    figure<&Config::node>("node", "1", -1, 1e6, open,
                          "replicas with the same number share the links of a node; -1: a node of "
                          "its own"),
    figure<&Config::dp_sync_s>("dp_sync_s", "s", 0, latest_s, open,
                               "what the ranks of dp take in each step to agree on it; assumed"));

constexpr auto stage_rows = rows_of<StageConfig>(
    figure<&StageConfig::pp_batches>("pp_batches", "steps", 1, 4096, open,
                                     "steps that are under way at once in the stages of pp; "
                                     "default pp"));

constexpr auto link_rows = rows_of<StageLink>(
    figure<&StageLink::pp_send_s>("pp_send_s", "s", 0, latest_s, open,
                                  "what a transfer from stage to stage takes besides its bytes; "
                                  "assumed"),
    figure<&StageLink::s_per_token>("s_per_token", "s", 0, latest_s, open,
                                    "that the activations of a token take"));

constexpr auto transfer_rows = rows_of<KvTransfer>(
    figure<&KvTransfer::alpha_s>("alpha_s", "s", 0, latest_s, open, "before the first byte"),
    figure<&KvTransfer::bytes_per_s>("bytes_per_s", "bytes/s", 0, 1e30, open,
                                     "bandwidth between two replicas; over links: the most "
                                     "that one transfer gets"),
    figure<&KvTransfer::bytes_per_token>("bytes_per_token", "bytes", 0, most_bytes, open,
                                         "KV of one token, of all ranks"),
    figure<&KvTransfer::fixed_bytes>("fixed_bytes", "bytes", 0, most_bytes, open,
                                     "states of recurrent layers, whatever the length"));

using Bounded = KvTransfer::Bounded;
constexpr auto bounded_rows = rows_of<Bounded>(
    figure<&Bounded::bytes_per_token>("bytes_per_token", "bytes", 0, most_bytes, needed,
                                      "KV of one token in these layers; all ranks"),
    figure<&Bounded::tokens>("tokens", "tokens", 0, 1e9, needed, "that they keep at most"));

constexpr auto frontend_rows = rows_of<Frontend>(
    figure<&Frontend::base_s>("base_s", "s", 0, latest_s, open, "of each request"),
    figure<&Frontend::per_prompt_token_s>("per_prompt_token_s", "s", 0, latest_s, open,
                                          "of each token of its prompt"),
    figure<&Frontend::per_output_token_s>("per_output_token_s", "s", 0, latest_s, open,
                                          "of each token of its answer"),
    figure<&Frontend::servers>("servers", "processes", 1, 4096, open,
                               "of an engine, that render and tokenise one request at a time"),
    figure<&Frontend::server_turns>("server_turns", "turns", 1, 16, open,
                                    "of a request at its server; only the first takes time"),
    figure<&Frontend::server_request_s>("server_request_s", "s", 0, latest_s, open,
                                        "of a server for each request"),
    figure<&Frontend::server_prompt_token_s>("server_prompt_token_s", "s", 0, latest_s, open,
                                             "of a server for each token of its prompt"),
    figure<&Frontend::server_chunk_s>("server_chunk_s", "s", 0, latest_s, open,
                                      "of a server for each chunk of an answer that is streamed"),
    figure<&Frontend::egress_servers>("egress_servers", "processes", 0, 4096, open,
                                      "of an engine, that stream; 0: those that render"),
    figure<&Frontend::stream_interval>("stream_interval", "tokens", 1, 1e9, open,
                                       "in a chunk; the first and the last one go at once"),
    figure<&Frontend::client_request_s>("client_request_s", "s", 0, latest_s, open,
                                        "of the clients' process for each request that it sends"),
    figure<&Frontend::client_chunk_s>("client_chunk_s", "s", 0, latest_s, open,
                                      "of the clients' process for each chunk that it reads"));

constexpr auto disaggregation_rows = rows_of<Disaggregation>(
    word<&Disaggregation::order, split_order_words>("order", open,
                                                    "the replica that is chosen first"),
    word<&Disaggregation::push, push_words>("push", open, "when KV of a prompt sets off"),
    figure<&Disaggregation::lease_s>(
        "lease_s", "s", 0, latest_s, open,
        "that a prefill replica keeps a computed prompt which waits for room at a decode replica; "
        "then the decode replica computes it again. 0: for ever"));

}  // namespace

template <>
const FigureTable& figures<ReplicaConfig>() {
  static const auto table =
      table_of<Config>("ReplicaConfig", "A replica, as the engine runs it.", replica_rows);
  return table;
}
template <>
const FigureTable& figures<StageConfig>() {
  static const auto table =
      table_of<StageConfig>("StageConfig", "The stages of a replica.", stage_rows);
  return table;
}
template <>
const FigureTable& figures<StageLink>() {
  static const auto table =
      table_of<StageLink>("StageLink", "The way from one stage to the next.", link_rows);
  return table;
}
template <>
const FigureTable& figures<KvTransfer>() {
  static const auto table =
      table_of<KvTransfer>("KvTransfer", "KV transfer between replicas.", transfer_rows);
  return table;
}
template <>
const FigureTable& figures<KvTransfer::Bounded>() {
  static const auto table = table_of<Bounded>(
      "BoundedTransfer", "Layers that keep so many tokens at most.", bounded_rows);
  return table;
}
template <>
const FigureTable& figures<Frontend>() {
  static const auto table =
      table_of<Frontend>("Frontend", "Time outside of the engine.", frontend_rows);
  return table;
}

template <>
const FigureTable& figures<Disaggregation>() {
  static const auto table = table_of<Disaggregation>(
      "Disaggregation", "Prefill and decode on separate replicas.", disaggregation_rows);
  return table;
}

}  // namespace rooflua
