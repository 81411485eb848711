#include "spec/figures/deployment.h"

#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using Stated::elsewhere, Stated::open;
using Options = DeploymentOptions;
constexpr double most_bytes = 1e15;

constexpr auto option_rows = rows_of<Options>(
    figure<&Options::tp>("tp", "GPUs", 1, 1024, open,
                         "tensor parallel ranks: they divide attention and dense MLPs"),
    figure<&Options::dp>("dp", "ranks", 1, 1024, open,
                         "data-parallel ranks of the attention, in models with experts: each is a "
                         "replica on tp GPUs with a scheduler of its own, and all step together"),
    figure<&Options::ep>("ep", "ranks", 1, 4096, open,
                         "ranks that hold whole experts; the rest of tp * dp, or of expert_gpus, "
                         "divides the width of each"),
    figure<&Options::moe_tp>("moe_tp", "ranks", 1, 4096, open,
                             "ranks that divide the width of each expert; default the ranks of "
                             "experts / ep"),
    figure<&Options::pp>("pp", "stages", 1, 256, open,
                         "pipeline parallel stages: each has some of the layers, on tp GPUs of its "
                         "own"),
    figure<&Options::cp>("cp", "ranks", 1, 256, open,
                         "ranks on tp GPUs each that divide prompts; each keeps all KV"),
    figure<&Options::dcp>("dcp", "ranks", 1, 1024, open,
                          "ranks of tp that divide the KV of a request, not hold copies of it"),
    figure<&Options::expert_gpus>(
        "expert_gpus", "GPUs", 0, 4096, open,
        "GPUs of a pool of their own that hold the routed experts; 0: the "
        "GPUs of the attention hold them"),
    figure<&Options::micro_batches>("micro_batches", "batches", 1, 64, open,
                                    "parts of a step that are in flight between the GPUs of the "
                                    "attention and those of the experts"),
    figure<&Options::weights>("weights", open,
                              "number format of the linear weights, or the name of a release; "
                              "default the model's"),
    figure<&Options::kv>("kv", open,
                         "number format of the KV cache; default as released, else the model's"),
    figure<&Options::memory_utilization>("memory_utilization", "1", 0.01, 1, open,
                                         "share of the usable memory that the engine takes"),
    figure<&Options::max_num_seqs>("max_num_seqs", "requests", 1, 1e7, open,
                                   "most requests in a step"),
    figure<&Options::max_num_batched_tokens>("max_num_batched_tokens", "tokens", 1, 1e9, open,
                                             "most tokens in a step"),
    figure<&Options::block_size>("block_size", "tokens", 1, most_block_size, open,
                                 "tokens in a KV block, on all ranks of dcp together"),
    figure<&Options::kv_blocks>("kv_blocks", "blocks", 1, most_kv_blocks, open,
                                "KV blocks; default what the memory has room for. "
                                "More are taken, with a note"),
    figure<&Options::drafter_weight_bytes>("drafter_weight_bytes", "bytes", 0, most_bytes, open,
                                           "weights of what drafts tokens beside the model; of a "
                                           "rank")
        .hidden(),
    figure<&Options::adapter_bytes>("adapter_bytes", "bytes", 0, most_bytes, open,
                                    "slots of low-rank adapters; of a rank")
        .hidden(),
    figure<&Options::redundant_expert_bytes>("redundant_expert_bytes", "bytes", 0, most_bytes, open,
                                             "copies of experts; of a rank")
        .hidden(),
    figure<&Options::drafter_kv_bytes_per_token>("drafter_kv_bytes_per_token", "bytes", 0,
                                                 most_bytes, open,
                                                 "the drafter's own cache, which is in the model's "
                                                 "blocks; of a rank")
        .hidden(),
    figure<&Options::activations>("activations", "bytes", 0, most_bytes, elsewhere,
                                  "replaces activation_estimate")
        .hidden(),
    figure<&Options::runtime>("runtime", "bytes", 0, most_bytes, elsewhere,
                              "replaces runtime_estimate")
        .hidden());

}  // namespace

template <>
const FigureTable& figures<DeploymentOptions>() {
  static const FigureTable table = table_of<DeploymentOptions>(
      "DeploymentOptions", "The keys of spec.deployment and of a scenario's `deployment`.",
      option_rows);
  return table;
}

}  // namespace rooflua
