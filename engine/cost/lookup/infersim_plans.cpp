#include "cost/lookup/infersim_plans.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rooflua::infersim {
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

}  // namespace

Planner::Planner(const LookupContext& context)
    : context_(context),
      default_mfu_(context.default_mfu.value_or(reference_default(context.gpu))) {}

const KernelTable* Planner::file(const std::string& folder, const std::string& file_name) const {
  for (std::size_t i = 0; i < context_.store->files().size(); ++i) {
    const std::string& found = context_.store->files()[i].name;
    if (found.starts_with(folder + "/") && found.ends_with("/" + file_name)) {
      return &context_.store->table(i);
    }
  }
  return nullptr;
}

Plan Planner::over(const Query& query, const KernelTable* table) const {
  Plan plan;
  plan.table = table;
  plan.otherwise = round3(default_mfu_);
  const bool typed = declaration_of(query.op).peak == PeakOf::dtype;
  const Dtype dtype = typed ? query.dtype : Dtype::bf16;
  plan.peak_flop_per_s = context_.peak_flop_per_s(dtype);
  if (table == nullptr || query.op == Op::grouped_gemm || query.op == Op::linear_attention)
    return plan;
  for (int i = 0; i < rows(*table); ++i)
    plan.rounded.push_back(round3(at_row(*table, i).listed_mfu));
  return plan;
}

Plan Planner::gemm(const Query& query) const {
  const KernelTable* table = file("gemm", "data.csv");
  Plan plan = over(query, table);
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
  Scan scan;
  for (int i = 0; i < rows(*table); ++i) {
    const auto& s = at_row(*table, i).shape;
    if (whole(s[1]) == picked_k && whole(s[2]) == picked_n) scan.add(floored(s[0]), i);
  }
  plan.last_up_to = LastUpTo(scan);
  plan.exact_shape = nearest == 0;
  return plan;
}

Plan Planner::prefill(const Query& query) const {
  const bool mla = query.op == Op::mla_prefill;
  const int tp = ranks_of(query);
  const std::string shape =
      mla ? shape_name({count(query.heads) / tp, count(query.qk_nope_head_dim),
                        count(query.qk_rope_head_dim)})
          : shape_name(
                {count(query.heads) / tp, count(query.kv_heads) / tp, count(query.head_dim)});
  const KernelTable* table = file(mla ? "mla/prefill" : "mha/prefill", shape);
  Plan plan = over(query, table);
  if (table == nullptr) {
    plan.otherwise = round3(no_prefill_table);
    return plan;
  }
  Scan scan;
  for (int i = 0; i < rows(*table); ++i) scan.add(floored(at_row(*table, i).shape[5]), i);
  plan.before = BeforeFirstLarger(scan);
  return plan;
}

Plan Planner::decode(const Query& query) const {
  const bool mla = query.op == Op::mla_decode;
  const int tp = ranks_of(query);
  const std::string shape = mla ? shape_name({count(query.heads) / tp, count(query.kv_lora_rank),
                                              count(query.qk_rope_head_dim)})
                                : shape_name({count(query.heads) / tp, count(query.kv_heads) / tp,
                                              count(query.head_dim)});
  Plan plan = over(query, file(mla ? "mla/decode" : "mha/decode", shape));
  if (plan.table == nullptr) return plan;
  Scan batches, contexts;
  for (int i = 0; i < rows(*plan.table); ++i) {
    const KernelRow& row = at_row(*plan.table, i);
    if (row.kv_dtype != kv_of(query)) continue;
    batches.add(floored(row.shape[3]), i);
    contexts.add(floored(row.shape[4]), i);
  }
  plan.has_rows = !batches.row.empty();
  plan.before = BeforeFirstLarger(batches);
  plan.before_context = BeforeFirstLarger(contexts);
  plan.nearest_of_two = NearestOfTwo(batches, contexts.x);
  return plan;
}

Plan Planner::grouped(const Query& query) const {
  const int tp = ranks_of(query);
  const KernelTable* table =
      file(query.decode ? "grouped_gemm/decode" : "grouped_gemm/prefill", "data.csv");
  Plan plan = over(query, table);
  if (table == nullptr) return plan;
  const std::array<std::int64_t, 6> key{whole(query.experts),
                                        whole(query.ranks),
                                        whole(query.experts) / (whole(query.ranks) / tp),
                                        whole(query.experts_per_token),
                                        whole(query.hidden_size),
                                        whole(query.intermediate_size) / tp};
  Scan scan;
  for (int i = 0; i < rows(*table); ++i) {
    const auto& s = at_row(*table, i).shape;
    const auto raw = static_cast<std::size_t>(i + first_row(*table));
    plan.rounded.push_back(round3(table->part(raw, 2)));
    plan.rounded.push_back(round3(table->part(raw, 4)));
    bool same = true;
    for (std::size_t a = 0; a < key.size(); ++a) same = same && whole(s[a]) == key[a];
    if (same) scan.add(floored(s[6]), i);
  }
  plan.nearest = Nearest(scan);
  return plan;
}

Plan Planner::linear(const Query& query) const {
  const std::string shape =
      shape_name({count(query.conv), count(query.key_heads), count(query.key_head_dim),
                  count(query.value_heads), count(query.value_head_dim)});
  const std::string folder = query.decode ? "gdn/decode" : "gdn/prefill";
  Plan plan = over(query, file(folder, shape));
  if (plan.table == nullptr) {
    throw LookupError(LookupFailure::no_table,
                      folder + "/" + lower_case(context_.gpu) + "/" + shape,
                      "there is no such table");
  }
  Scan scan;
  for (int i = 0; i < rows(*plan.table); ++i) scan.add(at_row(*plan.table, i).shape[5], i);
  plan.nearest = Nearest(scan);
  return plan;
}

}  // namespace rooflua::infersim
