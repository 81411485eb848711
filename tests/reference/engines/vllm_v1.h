#pragma once
// vLLM V1's scheduler, transcribed line by line: every request is looked at in every step.
//
// Left out: KV connectors, grammars (blocked states). Deviations:
//   - a victim that stands before the cursor moves it back also when it was not scheduled in this
//     step (its last token is in flight): the original's index would slip and skip one request
//   - a victim whose last token is in flight releases early and is not counted as preempted
//   - a block whose last token is known by an update counts as content from that update on; the
//     original waits until the request is scheduled again, or ends
//   - windows and states are not groups of blocks that grow up to a bound: a request takes all
//     of seat_blocks when it is admitted
//   - with stages, a victim whose token is in flight is not admitted again before that token lands;
//     the original may compute the token twice
//   - blocks of accepted drafts are content when their request is planned again, also where that
//     plan takes them away
//   - a chunk that is given back (its request fell victim in the step that scheduled it) leaves no
//     content behind: the original keeps hashes of blocks that are never computed

#include <memory>
#include <vector>

#include "tests/reference/engines/pipeline.h"

namespace rooflua::reference {

struct VllmConfig {
  int max_num_seqs = 256;
  int max_num_batched_tokens = 8192;
  int blocks = 1024;    // usable ones: the null block is not among them
  int seat_blocks = 0;  // that a request holds besides those of its tokens
  int block_size = 16;
  int state_blocks =
      0;  // that a kept state takes; 0: there are no states (naive/ alone knows them)
  int max_model_len = 1 << 30;
  int async_depth = 1;
  int long_prefill_token_threshold = 0;
  bool chunked_prefill = true;
  bool reserve_full_isl = true;
  double watermark = 0;
  bool prefix_caching = true;
  int content_from = 0;  // ReplicaConfig::content_from
  bool partial_reuse = false;
  bool by_priority = false;
  int max_loras = 1 << 30;  // different adapters in a step
  Stages stages;
  bool ragged = false;  // the engine visits its decodes one by one
  // Speculation.
  int drafts = -1;              // most of a request; -1: none speculates
  int crowd = 1 << 30;          // with more decodes in a step,
  int crowd_drafts = 0;         // the next one has so many drafts
  bool mixed = false;           // requests differ: at most id % (drafts + 1)
  int lookahead = 0;            // tokens beyond a row that blocks are asked for
  bool drops_last_hit = false;  // a hit loses its last block
  std::vector<double> rates;    // a_1, a_2, ...: of the requests with id % 3 == 0; others see below
  std::uint64_t acceptance_seed = 0;

  bool speculates() const { return drafts >= 0; }
  /// What a request brings to the step after one with so many decodes.
  int next_drafts(int id, int decodes) const;
  /// a_j of one request: every third has the rates, the next their squares, the next their cubes.
  std::vector<double> curve_of(int id) const;
};

History run_vllm_v1(const VllmConfig& config, const std::vector<PlainRequest>& requests,
                    const Price& price);

}  // namespace rooflua::reference
