// The two policies of alibaba/InferSim: infersim_floor (3e99354) and infersim_head (f2293da), to
// the
// last bit: scans in file order, integer division of heads, results through round(x, 3).

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "cost/lookup/infersim_series.h"
#include "cost/lookup/lookup.h"
#include "cost/recent_values.h"

namespace rooflua {
namespace {

constexpr double no_prefill_table = 0.9;  // what the reference answers then

/// What the reference's GPU table says where there is no row (f2293da, params of hardware).
double reference_default(std::string_view gpu) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> known{
      {{"gb200", 0.5}, {"h200", 0.4}, {"h800", 0.35}, {"h20", 0.6}}};
  std::string lower;
  for (const char c : gpu) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [gpu_name, mfu] : known) {
    if (lower.starts_with(gpu_name)) return mfu;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string shape_name(std::initializer_list<int> parts) {
  std::string text;
  for (const int part : parts) {
    if (!text.empty()) text += '-';
    text += std::to_string(part);
  }
  return text += ".csv";
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// What is found once for all questions of one shape: the file, and its rows in an order in which
/// they are found fast.
struct Plan {
  const KernelTable* table = nullptr;
  double otherwise = std::numeric_limits<double>::quiet_NaN();  // where no row fits
  double peak_flop_per_s = 0;
  bool exact_shape = true;
  bool has_rows = false;  // of the KV dtype, where it counts
  infersim::LastUpTo last_up_to;
  infersim::BeforeFirstLarger before, before_context;
  infersim::Nearest nearest;
  infersim::NearestOfTwo nearest_of_two;
  std::vector<double> rounded;  // MFU of each row, as the reference returns it
};

class InfersimLookup final : public Lookup {
 public:
  InfersimLookup(const LookupContext& context, bool head)
      : context_(context),
        head_(head),
        default_mfu_(context.default_mfu.value_or(reference_default(context.gpu))) {}

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

  /// The reference drops the first line even where it is a row.
  static int first_row(const KernelTable& table) { return table.header ? 0 : 1; }
  static int rows(const KernelTable& table) {
    return static_cast<int>(table.rows.size()) - first_row(table);
  }
  static const KernelRow& at_row(const KernelTable& table, int row) {
    return table.rows[static_cast<std::size_t>(row + first_row(table))];
  }
  static const KernelRow& shown(const Pick& pick) { return at_row(*pick.plan->table, pick.row); }

  const KernelTable* file(const std::string& folder, const std::string& file_name) const {
    for (std::size_t i = 0; i < context_.store->files().size(); ++i) {
      const std::string& found = context_.store->files()[i].name;
      if (found.starts_with(folder + "/") && found.ends_with("/" + file_name)) {
        return &context_.store->table(i);
      }
    }
    return nullptr;
  }

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

  Plan plan_over(const Query& query, const KernelTable* table) const {
    Plan plan;
    plan.table = table;
    plan.otherwise = round3(default_mfu_);
    const Dtype dtype =
        query.op == Op::gemm || query.op == Op::grouped_gemm ? query.dtype : Dtype::bf16;
    plan.peak_flop_per_s = context_.peak_flop_per_s(dtype);
    if (table == nullptr || query.op == Op::grouped_gemm || query.op == Op::linear_attention)
      return plan;
    for (int i = 0; i < rows(*table); ++i)
      plan.rounded.push_back(round3(at_row(*table, i).listed_mfu));
    return plan;
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
    const Plan& plan =
        plans_.of(key_of(query, word(query.k), word(query.n), 0), [&] { return gemm_plan(query); });
    Pick pick{&plan, plan.last_up_to.at(floored(query.m))};
    if (pick.row >= 0)
      pick.exact = plan.exact_shape && floored(shown(pick).shape[0]) == floored(query.m);
    return pick;
  }

  /// Rows of the one (K, N) that is nearest among those that hold this GEMM.
  Plan gemm_plan(const Query& query) const {
    const KernelTable* table = file("gemm", "data.csv");
    Plan plan = plan_over(query, table);
    if (table == nullptr) return plan;
    const std::int64_t k = whole(query.k), n = whole(query.n);
    double nearest = 1e9;
    std::int64_t picked_k = -1, picked_n = -1;
    for (int i = 0; i < rows(*table); ++i) {
      const auto& s = at_row(*table, i).shape;
      const std::int64_t row_k = whole(s[1]), row_n = whole(s[2]);
      if (row_k < k || row_n < n) continue;
      const double dk = static_cast<double>(row_k - k), dn = static_cast<double>(row_n - n);
      const double distance = dk * dk + dn * dn;
      if (distance < nearest) nearest = distance, picked_k = row_k, picked_n = row_n;
    }
    infersim::Scan scan;
    for (int i = 0; i < rows(*table); ++i) {
      const auto& s = at_row(*table, i).shape;
      if (whole(s[1]) == picked_k && whole(s[2]) == picked_n) scan.add(floored(s[0]), i);
    }
    plan.last_up_to = infersim::LastUpTo(scan);
    plan.exact_shape = nearest == 0;
    return plan;
  }

  Pick prefill(const Query& query) const {
    const Plan& plan = plans_.of(
        key_of(query, word(query.heads, query.kv_heads),
               word(query.head_dim, query.qk_nope_head_dim), word(query.qk_rope_head_dim, 0)),
        [&] { return prefill_plan(query); });
    Pick pick{&plan, plan.before.at(floored(query.new_tokens))};
    pick.exact = pick.row >= 0 && floored(shown(pick).shape[5]) == floored(query.new_tokens);
    return pick;
  }

  Plan prefill_plan(const Query& query) const {
    const bool mla = query.op == Op::mla_prefill;
    const int tp = std::max(1, query.tp);
    const std::string shape =
        mla ? shape_name({query.heads / tp, query.qk_nope_head_dim, query.qk_rope_head_dim})
            : shape_name({query.heads / tp, query.kv_heads / tp, query.head_dim});
    const KernelTable* table = file(mla ? "mla/prefill" : "mha/prefill", shape);
    Plan plan = plan_over(query, table);
    if (table == nullptr) {
      plan.otherwise = round3(no_prefill_table);
      return plan;
    }
    infersim::Scan scan;
    for (int i = 0; i < rows(*table); ++i) scan.add(floored(at_row(*table, i).shape[5]), i);
    plan.before = infersim::BeforeFirstLarger(scan);
    return plan;
  }

  Pick decode(const Query& query) const {
    const Plan& plan =
        plans_.of(key_of(query, word(query.heads, query.kv_heads),
                         word(query.head_dim, query.kv_lora_rank), word(query.qk_rope_head_dim, 0)),
                  [&] { return decode_plan(query); });
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

  static Dtype kv_of(const Query& query) {
    return query.kv_dtype == Dtype::fp8 ? Dtype::fp8 : Dtype::bf16;
  }

  Plan decode_plan(const Query& query) const {
    const bool mla = query.op == Op::mla_decode;
    const int tp = std::max(1, query.tp);
    const std::string shape =
        mla ? shape_name({query.heads / tp, query.kv_lora_rank, query.qk_rope_head_dim})
            : shape_name({query.heads / tp, query.kv_heads / tp, query.head_dim});
    Plan plan = plan_over(query, file(mla ? "mla/decode" : "mha/decode", shape));
    if (plan.table == nullptr) return plan;
    infersim::Scan batches, contexts;
    for (int i = 0; i < rows(*plan.table); ++i) {
      const KernelRow& row = at_row(*plan.table, i);
      if (row.kv_dtype != kv_of(query)) continue;
      batches.add(floored(row.shape[3]), i);
      contexts.add(floored(row.shape[4]), i);
    }
    plan.has_rows = !batches.row.empty();
    plan.before = infersim::BeforeFirstLarger(batches);
    plan.before_context = infersim::BeforeFirstLarger(contexts);
    plan.nearest_of_two = infersim::NearestOfTwo(batches, contexts.x);
    return plan;
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
    const int tp = std::max(1, query.tp);
    if (query.ranks / tp == 0) {
      throw LookupError(LookupFailure::division_by_zero, "lookup grouped_gemm",
                        "ranks // tp is 0: " + std::to_string(query.ranks) + " ranks, tp " +
                            std::to_string(tp) + "; tp must not exceed the ranks");
    }
    const Plan& plan = plans_.of(key_of(query, word(query.experts, query.experts_per_token),
                                        word(query.hidden_size), word(query.intermediate_size)),
                                 [&] { return grouped_plan(query); });
    const bool nearest = head_ && query.decode;
    const double tokens = floored(query.tokens);
    Pick pick{&plan, nearest ? plan.nearest.at(tokens) : plan.nearest.below(tokens)};
    estimate.mfu_up = estimate.mfu_down = plan.otherwise;
    if (pick.row >= 0) {
      pick.exact = floored(shown(pick).shape[6]) == tokens;
      estimate.mfu_up = plan.rounded[2 * static_cast<std::size_t>(pick.row)];
      estimate.mfu_down = plan.rounded[2 * static_cast<std::size_t>(pick.row) + 1];
    } else if (std::isnan(default_mfu_)) {
      throw no_default(query);
    }
    finish(query, pick, std::max(estimate.mfu_up, estimate.mfu_down), estimate, trace);
    return true;
  }

  Plan grouped_plan(const Query& query) const {
    const int tp = std::max(1, query.tp);
    const KernelTable* table =
        file(query.decode ? "grouped_gemm/decode" : "grouped_gemm/prefill", "data.csv");
    Plan plan = plan_over(query, table);
    if (table == nullptr) return plan;
    const std::array<std::int64_t, 6> key{query.experts,
                                          query.ranks,
                                          query.experts / (query.ranks / tp),
                                          query.experts_per_token,
                                          whole(query.hidden_size),
                                          whole(query.intermediate_size) / tp};
    infersim::Scan scan;
    for (int i = 0; i < rows(*table); ++i) {
      const auto& s = at_row(*table, i).shape;
      const auto raw = static_cast<std::size_t>(i + first_row(*table));
      plan.rounded.push_back(round3(table->part(raw, 2)));
      plan.rounded.push_back(round3(table->part(raw, 4)));
      bool same = true;
      for (std::size_t a = 0; a < key.size(); ++a) same = same && whole(s[a]) == key[a];
      if (same) scan.add(floored(s[6]), i);
    }
    plan.nearest = infersim::Nearest(scan);
    return plan;
  }

  bool linear(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const Plan& plan = plans_.of(
        key_of(query, word(query.conv, query.key_heads),
               word(query.key_head_dim, query.value_heads), word(query.value_head_dim, 0)),
        [&] { return linear_plan(query); });
    const double q = query.decode ? query.batch : query.new_tokens;
    if (q == 0) {
      throw LookupError(LookupFailure::division_by_zero, "lookup linear_attention",
                        std::string(query.decode ? "batch" : "new_tokens") + " is 0");
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

  Plan linear_plan(const Query& query) const {
    const std::string shape = shape_name(
        {query.conv, query.key_heads, query.key_head_dim, query.value_heads, query.value_head_dim});
    const std::string folder = query.decode ? "gdn/decode" : "gdn/prefill";
    Plan plan = plan_over(query, file(folder, shape));
    if (plan.table == nullptr) {
      throw LookupError(LookupFailure::no_table,
                        folder + "/" + lower_case(context_.gpu) + "/" + shape,
                        "there is no such table");
    }
    infersim::Scan scan;
    for (int i = 0; i < rows(*plan.table); ++i) scan.add(at_row(*plan.table, i).shape[5], i);
    plan.nearest = infersim::Nearest(scan);
    return plan;
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

  static std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }
  /// As the reference's int().
  static double floored(double value) { return static_cast<double>(whole(value)); }

  LookupContext context_;
  bool head_;
  double default_mfu_;
  mutable Kept<Key, Plan> plans_;
};

}  // namespace

std::unique_ptr<Lookup> infersim_lookup(const LookupContext& context, bool head) {
  return std::make_unique<InfersimLookup>(context, head);
}

}  // namespace rooflua
