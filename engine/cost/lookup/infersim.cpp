// The two policies of alibaba/InferSim, infersim_floor (3e99354) and infersim_head (f2293da), to
// the last bit: scans in file order, integer division of heads, results through round(x, 3).

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "cost/lookup/infersim_plans.h"
#include "cost/lookup/lookup.h"
#include "cost/price/recent_values.h"

namespace rooflua {
namespace {

using infersim::Plan, infersim::at_row, infersim::first_row, infersim::floored, infersim::kv_of,
    infersim::rows;

class InfersimLookup final : public Lookup {
 public:
  InfersimLookup(const LookupContext& context, bool head)
      : context_(context), head_(head), planner_(context_) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    switch (query.op) {
      case Op::gemm:
        listed(query, gemm(query), estimate, trace);
        return true;
      case Op::attention_prefill:
      case Op::mla_prefill:
        listed(query, prefill(query), estimate, trace);
        return true;
      case Op::attention_decode:
      case Op::mla_decode:
        listed(query, decode(query), estimate, trace);
        return true;
      case Op::grouped_gemm:
        return grouped(query, estimate, trace);
      case Op::linear_attention:
        return linear(query, estimate, trace);
      default:
        return false;
    }
  }

 private:
  using Key = Words<7>;

  /// A row after the first line of the file was dropped, or a constant.
  struct Pick {
    const Plan* plan = nullptr;
    int row = -1;
    bool exact = false;
  };

  static const KernelRow& shown(const Pick& pick) { return at_row(*pick.plan->table, pick.row); }

  LookupError no_default(const Query& query) const {
    return {LookupFailure::no_table,
            "lookup " + std::string(head_ ? "infersim_head" : "infersim_floor"),
            "no row for this " + std::string(name(query.op)) + " and no default MFU for GPU '" +
                context_.gpu + "' (known: H20, H800, H200, GB200; or set default_mfu)"};
  }

  static std::uint64_t word(double value) { return std::bit_cast<std::uint64_t>(value); }
  static std::uint64_t word(int a, int b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
           static_cast<std::uint32_t>(b);
  }
  static Key key_of(const Query& q, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                    std::uint64_t d = 0, std::uint64_t e = 0) {
    const auto kind = static_cast<std::uint64_t>(q.op) | static_cast<std::uint64_t>(q.dtype) << 8 |
                      static_cast<std::uint64_t>(q.kv_dtype) << 16 |
                      static_cast<std::uint64_t>(q.decode) << 24;
    return {{kind, word(q.tp, q.ranks), a, b, c, d, e}};
  }

  void finish(const Query& query, const Pick& pick, double mfu, Estimate& estimate,
              RowsUsed* trace) const {
    estimate.mfu = mfu;
    estimate.selected_row = pick.row;
    estimate.rows = pick.row >= 0 ? 1 : 0;
    estimate.evidence = pick.row < 0 ? Evidence::assumed
                        : pick.exact ? Evidence::measured
                                     : Evidence::stand_in;
    const double peak = pick.plan->peak_flop_per_s;
    estimate.latency_s =
        peak > 0 ? flop_of(query) / (peak * mfu) : std::numeric_limits<double>::quiet_NaN();
    if (trace != nullptr) note(pick, trace);
  }
  static void note(const Pick& pick, RowsUsed* trace) {
    if (pick.row >= 0) {
      trace->used.push_back({pick.plan->table, pick.row + first_row(*pick.plan->table)});
    } else {
      trace->remark = "no row: the default of the reference";
    }
  }
  /// Of ops whose tables print an MFU.
  void listed(const Query& query, const Pick& pick, Estimate& estimate, RowsUsed* trace) const {
    const double mfu = pick.row < 0 ? pick.plan->otherwise
                                    : pick.plan->rounded[static_cast<std::size_t>(pick.row)];
    if (std::isnan(mfu)) throw no_default(query);
    finish(query, pick, mfu, estimate, trace);
  }

  Pick gemm(const Query& query) const {
    const Plan& plan = plans_.of(key_of(query, word(query.k), word(query.n), 0),
                                 [&] { return planner_.gemm(query); });
    Pick pick{&plan, plan.last_up_to.at(floored(query.m))};
    if (pick.row >= 0)
      pick.exact = plan.exact_shape && floored(shown(pick).shape[0]) == floored(query.m);
    return pick;
  }

  Pick prefill(const Query& query) const {
    const Plan& plan = plans_.of(
        key_of(query, word(query.heads, query.kv_heads),
               word(query.head_dim, query.qk_nope_head_dim), word(query.qk_rope_head_dim, 0)),
        [&] { return planner_.prefill(query); });
    Pick pick{&plan, plan.before.at(floored(query.new_tokens))};
    pick.exact = pick.row >= 0 && floored(shown(pick).shape[5]) == floored(query.new_tokens);
    return pick;
  }

  Pick decode(const Query& query) const {
    const Plan& plan =
        plans_.of(key_of(query, word(query.heads, query.kv_heads),
                         word(query.head_dim, query.kv_lora_rank), word(query.qk_rope_head_dim, 0)),
                  [&] { return planner_.decode(query); });
    Pick pick{&plan};
    if (plan.table == nullptr) return pick;
    const double batch = floored(query.batch), context = floored(query.context_tokens);
    pick.row = head_ ? decode_head(query, plan) : decode_floor(query, plan);
    if (pick.row >= 0) {
      const auto& s = shown(pick).shape;
      pick.exact = floored(s[3]) == batch && floored(s[4]) == context;
    }
    return pick;
  }

  /// The smallest |batch| + |context| distance, not normalised; the first in file order wins.
  static int decode_head(const Query& query, const Plan& plan) {
    if (!plan.has_rows) {
      throw LookupError(LookupFailure::no_rows, plan.table->path.string(),
                        "no row with kv_dtype " + std::string(name(kv_of(query))));
    }
    return plan.nearest_of_two.at(floored(query.batch), floored(query.context_tokens));
  }

  /// Batch and context are floored apart, each by a scan that stops at the first larger value; the
  /// context scan runs over all batches.
  static int decode_floor(const Query& query, const Plan& plan) {
    const int batch_row = plan.before.at(floored(query.batch));
    const int context_row = plan.before_context.at(floored(query.context_tokens));
    if (batch_row < 0 || context_row < 0) return -1;
    const double batch = floored(at_row(*plan.table, batch_row).shape[3]);
    const double context = floored(at_row(*plan.table, context_row).shape[4]);
    const Dtype kv = kv_of(query);
    for (int i = 0; i < rows(*plan.table); ++i) {
      const KernelRow& row = at_row(*plan.table, i);
      if (row.kv_dtype == kv && floored(row.shape[3]) == batch && floored(row.shape[4]) == context)
        return i;
    }
    return -1;
  }

  bool grouped(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const int tp = infersim::ranks_of(query), ranks = infersim::count(query.ranks);
    if (ranks / tp == 0) {
      throw LookupError(LookupFailure::division_by_zero, "lookup grouped_gemm",
                        "ranks // tp is 0: " + std::to_string(ranks) + " ranks, tp " +
                            std::to_string(tp) + "; tp must not exceed the ranks");
    }
    const Plan& plan = plans_.of(key_of(query, word(query.experts, query.experts_per_token),
                                        word(query.hidden_size), word(query.intermediate_size)),
                                 [&] { return planner_.grouped(query); });
    const bool nearest = head_ && query.decode != 0;
    const double tokens = floored(query.tokens);
    Pick pick{&plan, nearest ? plan.nearest.at(tokens) : plan.nearest.below(tokens)};
    estimate.mfu_up = estimate.mfu_down = plan.otherwise;
    if (pick.row >= 0) {
      pick.exact = floored(shown(pick).shape[6]) == tokens;
      estimate.mfu_up = plan.rounded[2 * static_cast<std::size_t>(pick.row)];
      estimate.mfu_down = plan.rounded[2 * static_cast<std::size_t>(pick.row) + 1];
    } else if (std::isnan(planner_.default_mfu())) {
      throw no_default(query);
    }
    finish(query, pick, std::max(estimate.mfu_up, estimate.mfu_down), estimate, trace);
    return true;
  }

  bool linear(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const Plan& plan = plans_.of(
        key_of(query, word(query.conv, query.key_heads),
               word(query.key_head_dim, query.value_heads), word(query.value_head_dim, 0)),
        [&] { return planner_.linear(query); });
    const double q = query.decode != 0 ? query.batch : query.new_tokens;
    if (q == 0) {
      throw LookupError(LookupFailure::division_by_zero, "lookup linear_attention",
                        std::string(query.decode != 0 ? "batch" : "new_tokens") + " is 0");
    }
    Pick pick{&plan, plan.nearest.at(q)};
    if (pick.row < 0) {
      throw LookupError(LookupFailure::no_rows, plan.table->path.string(), "the table has no rows");
    }
    pick.exact = shown(pick).shape[5] == q;
    estimate.latency_us = linear_us(pick, q);
    estimate.latency_s = estimate.latency_us / 1e6;
    estimate.selected_row = pick.row;
    estimate.rows = 1;
    estimate.evidence = pick.exact ? Evidence::measured : Evidence::stand_in;
    if (trace != nullptr) note(pick, trace);
    return true;
  }

  /// Columns are scaled one by one and added from left to right. The floor policy scales the wrong
  /// way round.
  double linear_us(const Pick& pick, double q) const {
    const double row = shown(pick).shape[5];
    const KernelTable& table = *pick.plan->table;
    const auto raw = static_cast<std::size_t>(pick.row + first_row(table));
    double sum = 0;
    for (std::size_t c = 0; c < table.part_names.size(); ++c) {
      const double column = table.part(raw, c);
      sum += head_ ? column / (row / q) : column * (row / q);
    }
    return sum;
  }

  LookupContext context_;
  bool head_;
  infersim::Planner planner_;
  mutable RecentValues<Key, Plan> plans_;
};

}  // namespace

std::unique_ptr<Lookup> infersim_lookup(const LookupContext& context, bool head) {
  return std::make_unique<InfersimLookup>(context, head);
}

}  // namespace rooflua
