#include "cost/tables/columns.h"

#include <algorithm>
#include <array>
#include <span>

#include "cost/tables/own_columns.h"

namespace rooflua {
namespace {

constexpr double us = 1e-6;

// InferSim and BLIS
constexpr std::array<Column, 5> gemm_columns{{{"m", Meaning::shape, 0},
                                              {"k", Meaning::shape, 1},
                                              {"n", Meaning::shape, 2},
                                              {"latency_us", Meaning::latency, 0, us},
                                              {"mfu", Meaning::listed_mfu, 0, 1, false}}};
constexpr std::array<Column, 4> prefill_columns{{{"dtype", Meaning::ignored},
                                                 {"seq_len", Meaning::shape, 5},
                                                 {"latency_us", Meaning::latency, 0, us},
                                                 {"mfu", Meaning::listed_mfu, 0, 1, false}}};
constexpr std::array<Column, 6> decode_columns{{{"dtype", Meaning::ignored},
                                                {"kv_dtype", Meaning::kv_dtype},
                                                {"batch_size", Meaning::shape, 3},
                                                {"kv_len", Meaning::shape, 4},
                                                {"latency_us", Meaning::latency, 0, us},
                                                {"mfu", Meaning::listed_mfu, 0, 1, false}}};
constexpr std::array<Column, 12> grouped_decode_columns{{{"num_experts", Meaning::shape, 0},
                                                         {"num_gpus", Meaning::shape, 1},
                                                         {"num_local_experts", Meaning::shape, 2},
                                                         {"topk", Meaning::shape, 3},
                                                         {"hidden_size", Meaning::shape, 4},
                                                         {"intermediate_size", Meaning::shape, 5},
                                                         {"batch_size_per_gpu", Meaning::shape, 6},
                                                         {"tokens_per_expert", Meaning::part, 0, 0},
                                                         {"up_proj_us", Meaning::part, 0, us},
                                                         {"up_mfu", Meaning::part, 0, 0},
                                                         {"down_proj_us", Meaning::part, 0, us},
                                                         {"down_mfu", Meaning::part, 0, 0}}};
constexpr std::array<Column, 12> grouped_prefill_columns{
    {{"num_experts", Meaning::shape, 0},
     {"num_gpus", Meaning::shape, 1},
     {"num_local_experts", Meaning::shape, 2},
     {"topk", Meaning::shape, 3},
     {"hidden_size", Meaning::shape, 4},
     {"intermediate_size", Meaning::shape, 5},
     {"seq_len_per_gpu", Meaning::shape, 6},
     {"tokens_per_expert", Meaning::part, 0, 0},
     {"up_proj_us", Meaning::part, 0, us},
     {"up_mfu", Meaning::part, 0, 0},
     {"down_proj_us", Meaning::part, 0, us},
     {"down_mfu", Meaning::part, 0, 0}}};
constexpr std::array<Column, 3> linear_decode_columns{{{"batchsize", Meaning::shape, 5},
                                                       {"conv", Meaning::part, 0, us},
                                                       {"gdn_update", Meaning::part, 0, us}}};
constexpr std::array<Column, 7> linear_prefill_columns{{{"seq_len", Meaning::shape, 5},
                                                        {"conv", Meaning::part, 0, us},
                                                        {"kkt", Meaning::part, 0, us},
                                                        {"tril", Meaning::part, 0, us},
                                                        {"wu", Meaning::part, 0, us},
                                                        {"chunk_gdn", Meaning::part, 0, us},
                                                        {"chunk_o", Meaning::part, 0, us}}};

std::span<const Column> listed_columns(TableForm form) {
  switch (form) {
    case TableForm::gemm:
      return gemm_columns;
    case TableForm::prefill:
    case TableForm::mla_prefill:
      return prefill_columns;
    case TableForm::decode:
    case TableForm::mla_decode:
      return decode_columns;
    case TableForm::grouped_decode:
      return grouped_decode_columns;
    case TableForm::grouped_prefill:
      return grouped_prefill_columns;
    case TableForm::linear_decode:
      return linear_decode_columns;
    case TableForm::linear_prefill:
      return linear_prefill_columns;
    case TableForm::published:
    case TableForm::own:
      break;
  }
  return {};
}

std::vector<Column> own_table_columns(const OpDeclaration& op) {
  std::vector<Column> columns;
  for (const OwnColumn& each : own_columns(op)) {
    const Field& field = *each.field;
    const Meaning meaning = field.is_kv()                   ? Meaning::kv_dtype
                            : field.kind == FieldKind::word ? Meaning::label
                                                            : Meaning::shape;
    columns.push_back({field.column_name(), meaning, each.place});
  }
  columns.push_back({"latency_us", Meaning::latency, 0, us});
  columns.push_back({"latency_us_p10", Meaning::latency_p10, 0, us, false});
  columns.push_back({"latency_us_p90", Meaning::latency_p90, 0, us, false});
  return columns;
}

}  // namespace

std::vector<Column> columns_of(const TableFile& file) {
  if (file.form == TableForm::own) return own_table_columns(declaration_of(file.op));
  const std::span<const Column> columns = listed_columns(file.form);
  return {columns.begin(), columns.end()};
}

void finish_row(const TableFile& file, KernelRow& row) {
  auto& s = row.shape;
  switch (file.form) {
    case TableForm::prefill:
    case TableForm::mla_prefill:
    case TableForm::decode:
    case TableForm::mla_decode:
      for (std::size_t i = 0; i < 3; ++i) s[i] = file.shape[i];
      if (file.op == Op::attention_prefill || file.op == Op::mla_prefill) s[3] = 1;
      break;
    case TableForm::linear_decode:
    case TableForm::linear_prefill:
      for (std::size_t i = 0; i < 5; ++i) s[i] = file.shape[i];
      break;
    case TableForm::own:
      if (const auto complete = declaration_of(file.op).complete_row) complete(s);
      break;
    default:
      break;
  }
}

}  // namespace rooflua
