#pragma once
// The MFU database: measured kernel tables of one GPU, a lookup strategy over them, and the
// modelled kernel where no table has the op. Latency is the measurement; MFU is derived from it
// with the table's FLOP convention and the GPU's peak (docs/MODELS.md).

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/database/estimate_cache.h"
#include "cost/lookup/lookup.h"
#include "cost/lookup/user_lookup.h"
#include "cost/model/attention.h"
#include "cost/model/gemm.h"
#include "cost/tables/layout.h"

namespace rooflua {

class MfuDatabase;

struct DatabaseOptions {
  std::optional<Hardware> hardware;  // peaks; needed for MFU and the modelled kernel
  std::filesystem::path path;        // folder of tables (empty: the folder of `hardware`)
  Layout layout = Layout::rooflua;
  std::string gpu;                     // sub-folder (infersim, blis; any case) or file prefix (aic)
  std::string lookup = "latency_log";  // a named strategy of docs/MODELS.md
  std::string engine;  // whose kernels run, one of the lenders; empty: the first of them
  Lenders lenders;
  /// Lends utilisation for ops that have no table here. Empty: the GPU that hardware.tables_from
  /// names.
  std::shared_ptr<const MfuDatabase> donor;
  /// What the InferSim policies answer where they have no row; empty: what InferSim has for this
  /// GPU.
  std::optional<double> default_mfu;
};

/// How a call of InferSim's or BLIS' own functions maps onto a Query (lookups infersim_floor,
/// infersim_head, blis487). `tp` divides heads, so for a call with per-rank heads leave it 1.
///
///   get_attn_decode_mfu(nh, nkv, hd, bs, kv_len, fp8)   attention_decode: heads, kv_heads,
///                                                       head_dim, batch, context_tokens, kv_dtype
///     of MLA (nh, rank, rope)                           mla_decode: heads, kv_lora_rank,
///                                                       qk_rope_head_dim, batch, ...
///   get_attn_prefill_mfu(nh, nkv, hd, seq_len)          attention_prefill: ..., new_tokens
///     of MLA (nh, nope, rope)                           mla_prefill: heads, qk_nope_head_dim,
///                                                       qk_rope_head_dim, new_tokens
///   get_gemm_mfu(m, k, n)                               gemm: m, k, n
///   get_groupedgemm_*_mfu(E, W, topk, H, I, tp, q)      grouped_gemm: experts, ranks,
///                                                       experts_per_token, hidden_size, tokens =
///                                                       q,
///                                                       intermediate_size (before / tp), tp,
///                                                       decode
///                                                       -> Estimate::mfu_up, mfu_down
///   get_linear_attn_*_latency(conv, kh, kd, vh, vd, q)  linear_attention: conv, key_heads, ...;
///                                                       decode: batch = q, else new_tokens = q
///                                                       -> Estimate::latency_us
///   BLIS: prefill(seq), decode(bs, kv, tp),             attention_prefill: new_tokens;
///         gemm(m, k, n)                                 attention_decode: batch, context_tokens,
///                                                       tp (heads are the whole model's); gemm
///
/// Where the reference raises, estimate() throws a LookupError: `no_rows` (ValueError, min() of
/// nothing), `no_table` (AssertionError), `division_by_zero` (ZeroDivisionError).
class MfuDatabase {
 public:
  /// Cheap: tables load when first asked for. @throws Error if the path is not there
  static std::shared_ptr<const MfuDatabase> open(const DatabaseOptions& options);
  /// The same over tables in memory; `options.path` is not read.
  static std::shared_ptr<const MfuDatabase> from_tables(std::vector<KernelTable> tables,
                                                        const DatabaseOptions& options);
  MfuDatabase(DatabaseOptions options, std::shared_ptr<const TableStore> store, std::string lookup,
              UserLookup user = {});

  /// The answer of the lookup strategy. A warm call costs under 100 ns. The reference is valid
  /// until the next call. One thread at a time.
  /// @throws LookupError where the strategy says so (an absent file, a dtype without rows)
  /// @throws Error if a field its op needs is not a positive finite number, or nothing can price
  /// the op
  const Estimate& estimate(const Query& query) const;

  /// The same latency, MFU and evidence, without the work behind them. The answer is not kept,
  /// because prepared questions (prepared_questions.h) keep it; only the answer of a user's lookup
  /// is kept here too.
  /// @throws as estimate()
  void answer(const Query& query, Estimate& estimate) const;

  /// How far the rows that answer are from the format, engine and shape asked for, in doublings;
  /// infinite where no row answers. Rows of a lookup that does not tell count as 0.
  double gap(const Query& query) const;

  /// Whether there is an answer: a row, one of the GPU that lends, or a model. Lookups of other
  /// authors, and the user's, are taken to have one.
  bool prices(const Query& query) const;

  /// Whether nothing but the modelled kernel can price this op: no table of it here, nor in the
  /// tables of the GPU that lends.
  bool only_models(Op op) const;

  /// What the answer rests on, in words: table, rows and their lines, or why there is none.
  std::string describe(const Query& query) const;

  /// Same tables, another strategy, named or written by the user. @throws Error with the known
  /// names
  std::shared_ptr<const MfuDatabase> with_lookup(const std::string& name,
                                                 UserLookup user = {}) const;
  /// The same tables, where the rows of `engine` are taken before those of others. Throws Error for
  /// an engine that is not known.
  std::shared_ptr<const MfuDatabase> of_engine(const std::string& engine) const;
  const std::string& lookup() const { return name_; }
  const std::optional<Hardware>& hardware() const { return options_.hardware; }
  Layout layout() const { return options_.layout; }
  /// The engine whose rows are taken before those of others.
  const std::string& engine() const { return options_.engine; }
  /// The engines whose rows stand in, in their order.
  const Lenders& lenders() const { return options_.lenders; }
  /// Whether the rows that answer for an op in a format contain a part of another op, as
  /// tables.toml says ("quantize", "kv_write"): of the first table that may answer, which is the
  /// lender's where only that GPU was measured in this very format. Reads no table.
  bool includes(Op op, Dtype format, std::string_view part) const;
  /// Whether tables of this op are of this very format, or of one with the same kernels and speed.
  /// Reads no table.
  bool holds_format(Op op, Dtype format) const;
  /// Whether a table that answers is a rehearsal: its times come from no GPU. Reads no table.
  bool is_rehearsal() const;
  /// Loads everything and lists it.
  const std::vector<const KernelTable*>& tables() const;
  /// How many tables have been read so far.
  int tables_loaded() const { return store_->loaded(); }
  /// The peak an MFU of this dtype refers to: the hardware's, else what the tables imply, else 0.
  FlopPerSecond peak(Dtype dtype) const;

 private:
  /// Whether an op is attention that only the model prices: then its answers are not kept.
  bool models_attention(Op op) const;
  void model_attention(const Query& query, Estimate& estimate) const;

  // What answers: rows, then the GPU that lends, then the model.
  Estimate price(const Query& query, RowsUsed* trace) const;
  bool from_rows(const Query& query, Estimate& estimate, RowsUsed* trace) const;
  bool from_donor(const Query& query, Estimate& estimate, RowsUsed* trace) const;
  void from_model(const Query& query, Estimate& estimate, RowsUsed* trace) const;
  /// Whether the donor has rows of the very format and shape, where own rows are of another format.
  bool donor_is_nearer(const Query& query) const;

  double mfu_of(const Query& query, double latency_s) const;
  void add_work(const Query& query, Estimate& estimate) const;
  const MfuDatabase* donor() const;

  DatabaseOptions options_;
  std::shared_ptr<const TableStore> store_;
  std::string name_;  // of the lookup
  LookupContext context_;
  UserLookup user_;  // what lookup_ asks, where a user wrote it
  std::unique_ptr<Lookup> lookup_;
  bool reference_ = false, native_ = false;  // InferSim's or BLIS' own policy; one of our own
  std::span<const OpDeclaration> ops_ = declared_ops();
  QuestionForms forms_;

  // What is remembered.
  mutable EstimateCache cache_;
  mutable QueryKey key_;  // of the last question
  mutable Estimate fresh_;
  mutable ModelledAttention prefill_, decode_;
  mutable ModelledGemms gemms_;
  struct Modelled {
    bool attention = false;
    signed char only = -1;  // whether nothing but the model prices the op; -1: not known yet
  };
  mutable std::vector<Modelled> modelled_;  // by op
  mutable std::vector<const KernelTable*> tables_;
  mutable std::vector<double> peaks_ = std::vector<double>(number_formats().size(), -1);
  mutable std::shared_ptr<const MfuDatabase> donor_;
  mutable bool looked_for_donor_ = false;
};

std::vector<std::string> lookup_names();

}  // namespace rooflua
