// The two policies of alibaba/InferSim: infersim_floor (3e99354) and infersim_head (f2293da), to
// the
// last bit: scans in file order, integer division of heads, results through round(x, 3).

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "cost/lookup.h"

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

class InfersimLookup final : public Lookup {
 public:
  InfersimLookup(const LookupContext& context, bool head)
      : context_(context),
        head_(head),
        default_mfu_(context.default_mfu.value_or(reference_default(context.gpu))) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    Pick pick;
    switch (query.op) {
      case Op::gemm:
        pick = gemm(query);
        break;
      case Op::attention_prefill:
      case Op::mla_prefill:
        pick = prefill(query);
        break;
      case Op::attention_decode:
      case Op::mla_decode:
        pick = decode(query);
        break;
      case Op::grouped_gemm:
        return grouped(query, estimate, trace);
      case Op::linear_attention:
        return linear(query, estimate, trace);
      default:
        return false;
    }
    const double listed = pick.row < 0 ? pick.otherwise : shown(pick).listed_mfu;
    if (std::isnan(listed)) throw no_default(query);
    finish(query, pick, round3(listed), estimate, trace);
    return true;
  }

 private:
  /// A row after the first line of the file was dropped, or a constant.
  struct Pick {
    const KernelTable* table = nullptr;
    int row = -1;
    bool exact = false;
    double otherwise = std::numeric_limits<double>::quiet_NaN();
  };

  /// The reference drops the first line even where it is a row.
  static int first_row(const KernelTable& table) { return table.header ? 0 : 1; }
  static int rows(const KernelTable& table) {
    return static_cast<int>(table.rows.size()) - first_row(table);
  }
  static const KernelRow& at_row(const KernelTable& table, int row) {
    return table.rows[static_cast<std::size_t>(row + first_row(table))];
  }
  static const KernelRow& shown(const Pick& pick) { return at_row(*pick.table, pick.row); }

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

  void finish(const Query& query, const Pick& pick, double mfu, Estimate& estimate,
              RowsUsed* trace) const {
    estimate.mfu = mfu;
    estimate.selected_row = pick.row;
    estimate.rows = pick.row >= 0 ? 1 : 0;
    estimate.evidence = pick.row < 0 ? Evidence::assumed
                        : pick.exact ? Evidence::measured
                                     : Evidence::stand_in;
    const Dtype dtype =
        query.op == Op::gemm || query.op == Op::grouped_gemm ? query.dtype : Dtype::bf16;
    const double peak = context_.peak_flop_per_s(dtype);
    estimate.latency_s =
        peak > 0 ? flop_of(query) / (peak * mfu) : std::numeric_limits<double>::quiet_NaN();
    note(pick, trace);
  }
  static void note(const Pick& pick, RowsUsed* trace) {
    if (trace == nullptr) return;
    if (pick.row >= 0) {
      trace->used.push_back({pick.table, pick.row + first_row(*pick.table)});
    } else {
      trace->remark = "no row: the default of the reference";
    }
  }

  Pick gemm(const Query& query) const {
    Pick pick;
    pick.otherwise = default_mfu_;
    pick.table = file("gemm", "data.csv");
    if (pick.table == nullptr) return pick;
    const std::int64_t m = whole(query.m), k = whole(query.k), n = whole(query.n);
    double nearest = 1e9;
    std::int64_t picked_k = -1, picked_n = -1;
    for (int i = 0; i < rows(*pick.table); ++i) {
      const auto& s = at_row(*pick.table, i).shape;
      const std::int64_t row_k = whole(s[1]), row_n = whole(s[2]);
      if (row_k < k || row_n < n) continue;
      const double dk = static_cast<double>(row_k - k), dn = static_cast<double>(row_n - n);
      const double distance = dk * dk + dn * dn;
      if (distance < nearest) nearest = distance, picked_k = row_k, picked_n = row_n;
    }
    for (int i = 0; i < rows(*pick.table); ++i) {
      const auto& s = at_row(*pick.table, i).shape;
      if (whole(s[1]) == picked_k && whole(s[2]) == picked_n && whole(s[0]) <= m) pick.row = i;
    }
    if (pick.row >= 0) pick.exact = whole(shown(pick).shape[0]) == m && nearest == 0;
    return pick;
  }

  Pick prefill(const Query& query) const {
    const bool mla = query.op == Op::mla_prefill;
    const int tp = std::max(1, query.tp);
    const std::string shape =
        mla ? shape_name({query.heads / tp, query.qk_nope_head_dim, query.qk_rope_head_dim})
            : shape_name({query.heads / tp, query.kv_heads / tp, query.head_dim});
    Pick pick;
    pick.table = file(mla ? "mla/prefill" : "mha/prefill", shape);
    pick.otherwise = pick.table == nullptr ? no_prefill_table : default_mfu_;
    if (pick.table == nullptr) return pick;
    for (int i = 0; i < rows(*pick.table); ++i) {
      if (whole(at_row(*pick.table, i).shape[5]) > whole(query.new_tokens)) break;
      pick.row = i;
    }
    pick.exact = pick.row >= 0 && whole(shown(pick).shape[5]) == whole(query.new_tokens);
    return pick;
  }

  Pick decode(const Query& query) const {
    const bool mla = query.op == Op::mla_decode;
    const int tp = std::max(1, query.tp);
    const std::string shape =
        mla ? shape_name({query.heads / tp, query.kv_lora_rank, query.qk_rope_head_dim})
            : shape_name({query.heads / tp, query.kv_heads / tp, query.head_dim});
    Pick pick;
    pick.otherwise = default_mfu_;
    pick.table = file(mla ? "mla/decode" : "mha/decode", shape);
    if (pick.table == nullptr) return pick;
    const Dtype kv = query.kv_dtype == Dtype::fp8 ? Dtype::fp8 : Dtype::bf16;
    if (head_) {
      decode_head(query, kv, pick);
    } else {
      decode_floor(query, kv, pick);
    }
    if (pick.row >= 0) {
      const auto& s = shown(pick).shape;
      pick.exact = whole(s[3]) == whole(query.batch) && whole(s[4]) == whole(query.context_tokens);
    }
    return pick;
  }

  /// The smallest |batch| + |context| distance, not normalised; the first in file order wins.
  void decode_head(const Query& query, Dtype kv, Pick& pick) const {
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < rows(*pick.table); ++i) {
      const KernelRow& row = at_row(*pick.table, i);
      if (row.kv_dtype != kv) continue;
      const std::int64_t distance = std::abs(whole(row.shape[3]) - whole(query.batch)) +
                                    std::abs(whole(row.shape[4]) - whole(query.context_tokens));
      if (distance < nearest) nearest = distance, pick.row = i;
    }
    if (pick.row < 0) {
      throw LookupError(LookupFailure::no_rows, pick.table->path.string(),
                        "no row with kv_dtype " + std::string(name(kv)));
    }
  }

  /// Batch and context are floored apart, each by a scan that stops at the first larger value; the
  /// context scan runs over all batches.
  void decode_floor(const Query& query, Dtype kv, Pick& pick) const {
    std::optional<std::int64_t> batch, context;
    for (int i = 0; i < rows(*pick.table); ++i) {
      const KernelRow& row = at_row(*pick.table, i);
      if (row.kv_dtype != kv) continue;
      if (whole(row.shape[3]) > whole(query.batch)) break;
      batch = whole(row.shape[3]);
    }
    for (int i = 0; i < rows(*pick.table); ++i) {
      const KernelRow& row = at_row(*pick.table, i);
      if (row.kv_dtype != kv) continue;
      if (whole(row.shape[4]) > whole(query.context_tokens)) break;
      context = whole(row.shape[4]);
    }
    if (!batch || !context) return;
    for (int i = 0; i < rows(*pick.table); ++i) {
      const KernelRow& row = at_row(*pick.table, i);
      if (row.kv_dtype == kv && whole(row.shape[3]) == *batch && whole(row.shape[4]) == *context) {
        pick.row = i;
        return;
      }
    }
  }

  bool grouped(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const int tp = std::max(1, query.tp);
    if (query.ranks / tp == 0) {
      throw LookupError(LookupFailure::division_by_zero, "lookup grouped_gemm",
                        "ranks // tp is 0: " + std::to_string(query.ranks) + " ranks, tp " +
                            std::to_string(tp) + "; tp must not exceed the ranks");
    }
    Pick pick;
    pick.table = file(query.decode ? "grouped_gemm/decode" : "grouped_gemm/prefill", "data.csv");
    if (pick.table != nullptr) pick_grouped(query, pick);
    double up = default_mfu_, down = default_mfu_;
    if (pick.row >= 0) {
      const auto raw = static_cast<std::size_t>(pick.row + first_row(*pick.table));
      up = pick.table->part(raw, 2);
      down = pick.table->part(raw, 4);
    } else if (std::isnan(default_mfu_)) {
      throw no_default(query);
    }
    estimate.mfu_up = round3(up);
    estimate.mfu_down = round3(down);
    finish(query, pick, std::max(estimate.mfu_up, estimate.mfu_down), estimate, trace);
    return true;
  }

  void pick_grouped(const Query& query, Pick& pick) const {
    const int tp = std::max(1, query.tp);
    const std::int64_t tokens = whole(query.tokens);
    const std::array<std::int64_t, 6> key{query.experts,
                                          query.ranks,
                                          query.experts / (query.ranks / tp),
                                          query.experts_per_token,
                                          whole(query.hidden_size),
                                          whole(query.intermediate_size) / tp};
    const bool nearest = head_ && query.decode;
    std::int64_t best = nearest ? std::numeric_limits<std::int64_t>::max() : -1;
    for (int i = 0; i < rows(*pick.table); ++i) {
      const auto& s = at_row(*pick.table, i).shape;
      bool same = true;
      for (std::size_t a = 0; a < key.size(); ++a) same = same && whole(s[a]) == key[a];
      if (!same) continue;
      const std::int64_t row_tokens = whole(s[6]);
      if (nearest) {
        const std::int64_t distance = std::abs(row_tokens - tokens);
        if (distance < best) best = distance, pick.row = i;
      } else if (row_tokens <= tokens && row_tokens > best) {
        best = row_tokens, pick.row = i;
      }
    }
    pick.exact = pick.row >= 0 && whole(shown(pick).shape[6]) == tokens;
  }

  bool linear(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const std::string shape = shape_name(
        {query.conv, query.key_heads, query.key_head_dim, query.value_heads, query.value_head_dim});
    const std::string folder = query.decode ? "gdn/decode" : "gdn/prefill";
    Pick pick;
    pick.table = file(folder, shape);
    if (pick.table == nullptr) {
      throw LookupError(LookupFailure::no_table,
                        folder + "/" + lower_case(context_.gpu) + "/" + shape,
                        "there is no such table");
    }
    const double q = query.decode ? query.batch : query.new_tokens;
    if (q == 0) {
      throw LookupError(LookupFailure::division_by_zero, "lookup linear_attention",
                        std::string(query.decode ? "batch" : "new_tokens") + " is 0");
    }
    double nearest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < rows(*pick.table); ++i) {
      const double distance = std::abs(at_row(*pick.table, i).shape[5] - q);
      if (distance < nearest) nearest = distance, pick.row = i;
    }
    if (pick.row < 0) {
      throw LookupError(LookupFailure::no_rows, pick.table->path.string(), "the table has no rows");
    }
    pick.exact = nearest == 0;
    estimate.latency_us = linear_us(pick, q);
    estimate.latency_s = estimate.latency_us / 1e6;
    estimate.selected_row = pick.row;
    estimate.rows = 1;
    estimate.evidence = pick.exact ? Evidence::measured : Evidence::stand_in;
    note(pick, trace);
    return true;
  }

  /// Columns are scaled one by one and added from left to right. The floor policy scales the wrong
  /// way round.
  double linear_us(const Pick& pick, double q) const {
    const double row = shown(pick).shape[5];
    const auto raw = static_cast<std::size_t>(pick.row + first_row(*pick.table));
    double sum = 0;
    for (std::size_t c = 0; c < pick.table->part_names.size(); ++c) {
      const double column = pick.table->part(raw, c);
      sum += head_ ? column / (row / q) : column * (row / q);
    }
    return sum;
  }

  static std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

  LookupContext context_;
  bool head_;
  double default_mfu_;
};

}  // namespace

std::unique_ptr<Lookup> infersim_lookup(const LookupContext& context, bool head) {
  return std::make_unique<InfersimLookup>(context, head);
}

}  // namespace rooflua
