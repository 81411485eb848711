#pragma once
// Fields that several ops have in common.

#include "cost/ops/declaration.h"

namespace rooflua::fields {

inline constexpr Field heads{.name = "heads",
                             .number = &Query::heads,
                             .unit = "heads",
                             .doc = "Query heads of the whole model.",
                             .kind = FieldKind::count,
                             .per_rank = true};
inline constexpr Field latent_heads = [] {
  Field field = heads;
  field.need = FieldNeed::positive_always;
  return field;
}();
inline constexpr Field kv_heads{.name = "kv_heads",
                                .number = &Query::kv_heads,
                                .unit = "heads",
                                .doc = "KV heads of the whole model.",
                                .kind = FieldKind::count,
                                .per_rank = true};
inline constexpr Field head_dim{.name = "head_dim",
                                .number = &Query::head_dim,
                                .unit = "elements",
                                .doc = "Width of a head.",
                                .kind = FieldKind::count};
inline constexpr Field kv_lora_rank{.name = "kv_lora_rank",
                                    .number = &Query::kv_lora_rank,
                                    .unit = "elements",
                                    .doc = "Width of the latent KV cache.",
                                    .kind = FieldKind::count,
                                    .need = FieldNeed::positive_always};
inline constexpr Field qk_nope_head_dim{.name = "qk_nope_head_dim",
                                        .number = &Query::qk_nope_head_dim,
                                        .unit = "elements",
                                        .doc = "Width of a query or key head without rope.",
                                        .kind = FieldKind::count,
                                        .need = FieldNeed::positive_always};
inline constexpr Field qk_rope_head_dim{.name = "qk_rope_head_dim",
                                        .number = &Query::qk_rope_head_dim,
                                        .unit = "elements",
                                        .doc = "Width of a query or key head with rope.",
                                        .kind = FieldKind::count,
                                        .need = FieldNeed::positive_always};
inline constexpr Field kv_dtype{.name = "kv_dtype",
                                .doc = "Number format of the KV cache.",
                                .role = FieldRole::key,
                                .kind = FieldKind::kv_dtype};
inline constexpr Field batch{.name = "batch",
                             .number = &Query::batch,
                             .unit = "requests",
                             .doc = "Requests at once; 0 counts as 1.",
                             .role = FieldRole::axis,
                             .need = FieldNeed::zero};
inline constexpr Field context_tokens{.name = "context_tokens",
                                      .number = &Query::context_tokens,
                                      .unit = "tokens",
                                      .doc = "Tokens of a request that are in its KV cache.",
                                      .role = FieldRole::axis,
                                      .need = FieldNeed::zero};
inline constexpr Field new_tokens{.name = "new_tokens",
                                  .number = &Query::new_tokens,
                                  .unit = "tokens",
                                  .doc = "Tokens of a request that are computed.",
                                  .role = FieldRole::axis};
inline constexpr Field window{.name = "window",
                              .number = &Query::window,
                              .unit = "tokens",
                              .doc = "Last tokens that a token sees, itself included.",
                              .kind = FieldKind::count,
                              .need = FieldNeed::positive_always};
inline constexpr Field tp{.name = "tp",
                          .number = &Query::tp,
                          .unit = "ranks",
                          .doc = "Ranks that divide the heads or the width between them.",
                          .role = FieldRole::question,
                          .kind = FieldKind::count,
                          .need = FieldNeed::positive_always,
                          .otherwise = 1};
inline constexpr Field gated{.name = "gated",
                             .number = &Query::gated,
                             .doc = "Whether experts have a gate: three matrices; else two.",
                             .role = FieldRole::question,
                             .kind = FieldKind::flag,
                             .need = FieldNeed::nothing,
                             .otherwise = 1};
inline constexpr Field decode{.name = "decode",
                              .number = &Query::decode,
                              .doc = "Whether the table of decodes answers.",
                              .role = FieldRole::table,
                              .kind = FieldKind::flag,
                              .need = FieldNeed::nothing};
inline constexpr Field bytes{.name = "bytes",
                             .number = &Query::bytes,
                             .unit = "bytes",
                             .doc = "Size of the message or the buffer.",
                             .role = FieldRole::axis,
                             .need = FieldNeed::positive_always};
inline constexpr Field tokens{.name = "tokens",
                              .number = &Query::tokens,
                              .unit = "tokens",
                              .doc = "Tokens of one rank.",
                              .role = FieldRole::axis};

/// In the order of Kernel.
inline constexpr FieldWord kernel_words[] = {
    {"copy"}, {"read"}, {"write"},    {"launch", "kernel"}, {"graph_node"},
    {"norm"}, {"rope"}, {"silu_mul"}, {"quantize", "", 1},
    {"to_host", "", 2}, {"from_host", "", 2}};
inline constexpr Field kernel{.name = "kernel",
                              .number = &Query::kernel,
                              .doc = "Which kernel of this op.",
                              .role = FieldRole::key,
                              .kind = FieldKind::word,
                              .need = FieldNeed::nothing,
                              .column = "op",
                              .words = kernel_words};

constexpr Field label(std::string_view name, std::string_view doc) {
  return {.name = name, .doc = doc, .role = FieldRole::label, .kind = FieldKind::word};
}

}  // namespace rooflua::fields
