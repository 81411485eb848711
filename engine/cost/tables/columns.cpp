#include "cost/tables/columns.h"

#include <algorithm>
#include <array>

namespace rooflua {
namespace {

constexpr double us = 1e-6;
constexpr double ms = 1e-3;

// InferSim and BLIS
constexpr std::array<Column, 5> gemm_columns{{{"m", Field::shape, 0},
                                              {"k", Field::shape, 1},
                                              {"n", Field::shape, 2},
                                              {"latency_us", Field::latency, 0, us},
                                              {"mfu", Field::listed_mfu, 0, 1, false}}};
constexpr std::array<Column, 4> prefill_columns{{{"dtype", Field::ignored},
                                                 {"seq_len", Field::shape, 5},
                                                 {"latency_us", Field::latency, 0, us},
                                                 {"mfu", Field::listed_mfu, 0, 1, false}}};
constexpr std::array<Column, 6> decode_columns{{{"dtype", Field::ignored},
                                                {"kv_dtype", Field::kv_dtype},
                                                {"batch_size", Field::shape, 3},
                                                {"kv_len", Field::shape, 4},
                                                {"latency_us", Field::latency, 0, us},
                                                {"mfu", Field::listed_mfu, 0, 1, false}}};
constexpr std::array<Column, 12> grouped_decode_columns{{{"num_experts", Field::shape, 0},
                                                         {"num_gpus", Field::shape, 1},
                                                         {"num_local_experts", Field::shape, 2},
                                                         {"topk", Field::shape, 3},
                                                         {"hidden_size", Field::shape, 4},
                                                         {"intermediate_size", Field::shape, 5},
                                                         {"batch_size_per_gpu", Field::shape, 6},
                                                         {"tokens_per_expert", Field::part, 0, 0},
                                                         {"up_proj_us", Field::part, 0, us},
                                                         {"up_mfu", Field::part, 0, 0},
                                                         {"down_proj_us", Field::part, 0, us},
                                                         {"down_mfu", Field::part, 0, 0}}};
constexpr std::array<Column, 12> grouped_prefill_columns{{{"num_experts", Field::shape, 0},
                                                          {"num_gpus", Field::shape, 1},
                                                          {"num_local_experts", Field::shape, 2},
                                                          {"topk", Field::shape, 3},
                                                          {"hidden_size", Field::shape, 4},
                                                          {"intermediate_size", Field::shape, 5},
                                                          {"seq_len_per_gpu", Field::shape, 6},
                                                          {"tokens_per_expert", Field::part, 0, 0},
                                                          {"up_proj_us", Field::part, 0, us},
                                                          {"up_mfu", Field::part, 0, 0},
                                                          {"down_proj_us", Field::part, 0, us},
                                                          {"down_mfu", Field::part, 0, 0}}};
constexpr std::array<Column, 3> linear_decode_columns{{{"batchsize", Field::shape, 5},
                                                       {"conv", Field::part, 0, us},
                                                       {"gdn_update", Field::part, 0, us}}};
constexpr std::array<Column, 7> linear_prefill_columns{{{"seq_len", Field::shape, 5},
                                                        {"conv", Field::part, 0, us},
                                                        {"kkt", Field::part, 0, us},
                                                        {"tril", Field::part, 0, us},
                                                        {"wu", Field::part, 0, us},
                                                        {"chunk_gdn", Field::part, 0, us},
                                                        {"chunk_o", Field::part, 0, us}}};

// ours
constexpr std::array<Column, 6> own_gemm_columns{
    {{"m", Field::shape, 0},
     {"k", Field::shape, 1},
     {"n", Field::shape, 2},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 9> own_prefill_columns{
    {{"heads", Field::shape, 0},
     {"kv_heads", Field::shape, 1},
     {"head_dim", Field::shape, 2},
     {"batch", Field::shape, 3},
     {"context_tokens", Field::shape, 4},
     {"new_tokens", Field::shape, 5},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 9> own_decode_columns{
    {{"heads", Field::shape, 0},
     {"kv_heads", Field::shape, 1},
     {"head_dim", Field::shape, 2},
     {"kv_dtype", Field::kv_dtype},
     {"batch", Field::shape, 3},
     {"context_tokens", Field::shape, 4},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 9> own_grouped_columns{
    {{"experts", Field::shape, 0},
     {"topk", Field::shape, 3},
     {"tokens", Field::shape, 6},
     {"k", Field::shape, 4},
     {"n", Field::shape, 5},
     {"distribution", Field::label, 7},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 6> own_all_reduce_columns{
    {{"ranks", Field::shape, 0},
     {"bytes", Field::shape, 1},
     {"mode", Field::label, 2},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 5> own_memory_columns{
    {{"op", Field::label, 0},
     {"bytes", Field::shape, 1},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 4> own_launch_columns{
    {{"op", Field::label, 0},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};
constexpr std::array<Column, 7> own_elementwise_columns{
    {{"op", Field::label, 0},
     {"tokens", Field::shape, 1},
     {"width", Field::shape, 2},
     {"dtype", Field::label, 3},
     {"latency_us", Field::latency, 0, us},
     {"latency_us_p10", Field::latency_p10, 0, us, false},
     {"latency_us_p90", Field::latency_p90, 0, us, false}}};

// aic: the column that decides whether the row is wanted comes first
constexpr std::array<Column, 5> aic_gemm_columns{{{"gemm_dtype", Field::only},
                                                  {"m", Field::shape, 0},
                                                  {"n", Field::shape, 2},
                                                  {"k", Field::shape, 1},
                                                  {"latency", Field::latency, 0, ms}}};
constexpr std::array<Column, 7> aic_prefill_columns{{{"num_heads", Field::shape, 0},
                                                     {"num_key_value_heads", Field::shape, 1},
                                                     {"head_dim", Field::shape, 2},
                                                     {"batch_size", Field::shape, 3},
                                                     {"isl", Field::shape, 5},
                                                     {"step", Field::shape, 4},
                                                     {"latency", Field::latency, 0, ms}}};
constexpr std::array<Column, 8> aic_decode_columns{{{"num_heads", Field::shape, 0},
                                                    {"num_key_value_heads", Field::shape, 1},
                                                    {"head_dim", Field::shape, 2},
                                                    {"kv_cache_dtype", Field::kv_dtype},
                                                    {"batch_size", Field::shape, 3},
                                                    {"isl", Field::shape, 4},
                                                    {"step", Field::shape, 4},
                                                    {"latency", Field::latency, 0, ms}}};
constexpr std::array<Column, 11> aic_moe_columns{{{"kernel_source", Field::label_prefix},
                                                  {"moe_dtype", Field::only},
                                                  {"num_tokens", Field::shape, 6},
                                                  {"hidden_size", Field::shape, 4},
                                                  {"inter_size", Field::shape, 5},
                                                  {"topk", Field::shape, 3},
                                                  {"num_experts", Field::shape, 0},
                                                  {"moe_tp_size", Field::shape, 1},
                                                  {"moe_ep_size", Field::shape, 2},
                                                  {"distribution", Field::label, 7},
                                                  {"latency", Field::latency, 0, ms}}};
constexpr std::array<Column, 5> aic_all_reduce_columns{
    {{"kernel_source", Field::label, 2},
     {"allreduce_dtype", Field::ignored},
     {"num_gpus", Field::shape, 0},
     {"message_size", Field::shape, 1, 2},  // bf16 elements
     {"latency", Field::latency, 0, ms}}};
constexpr std::array<Column, 5> aic_nccl_columns{
    {{"op_name", Field::only, 0},
     {"nccl_dtype", Field::only, 1},
     {"num_gpus", Field::shape, 0},
     {"message_size", Field::shape, 1, 2},  // half elements
     {"latency", Field::latency, 0, ms}}};

}  // namespace

std::span<const Column> columns_of(TableForm form) {
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
    case TableForm::own_gemm:
      return own_gemm_columns;
    case TableForm::own_prefill:
      return own_prefill_columns;
    case TableForm::own_decode:
      return own_decode_columns;
    case TableForm::own_grouped:
      return own_grouped_columns;
    case TableForm::own_all_reduce:
      return own_all_reduce_columns;
    case TableForm::own_memory:
      return own_memory_columns;
    case TableForm::own_launch:
      return own_launch_columns;
    case TableForm::own_elementwise:
      return own_elementwise_columns;
    case TableForm::aic_gemm:
      return aic_gemm_columns;
    case TableForm::aic_prefill:
      return aic_prefill_columns;
    case TableForm::aic_decode:
      return aic_decode_columns;
    case TableForm::aic_moe:
      return aic_moe_columns;
    case TableForm::aic_all_reduce:
      return aic_all_reduce_columns;
    case TableForm::aic_nccl:
      return aic_nccl_columns;
  }
  return {};
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
    case TableForm::own_grouped:
      s[1] = 1;
      s[2] = s[0];
      break;
    case TableForm::aic_moe: {
      const double tp = std::max(1.0, s[1]);
      const double ep = std::max(1.0, s[2]);
      s[1] = tp * ep;
      s[2] = s[0] / ep;
      s[5] /= tp;
      s[6] /= ep;  // tokens of all ranks -> of one
      break;
    }
    default:
      break;
  }
}

FlopConvention convention_of(Op op) {
  switch (op) {
    case Op::gemm:
      return FlopConvention::gemm_2mkn;
    case Op::attention_prefill:
    case Op::mla_prefill:
      return FlopConvention::attention_causal_half;
    case Op::attention_decode:
    case Op::mla_decode:
      return FlopConvention::attention_full;
    default:
      return FlopConvention::none;
  }
}

}  // namespace rooflua
