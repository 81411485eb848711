#pragma once
// The MFU database: measured kernel tables of one GPU, a lookup strategy over them, and the
// modelled kernel where no table has the op. Latency is the measurement; MFU is derived from it
// with the table's FLOP convention and the GPU's peak (docs/MODELS.md).

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/estimate.h"
#include "cost/lookup/user_lookup.h"
#include "cost/tables/kernel_table.h"
#include "cost/lookup/lenders.h"
#include "cost/tables/layout.h"
#include "spec/hardware.h"

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
  virtual ~MfuDatabase() = default;

  /// The answer of the lookup strategy. A warm call costs under 100 ns. The reference is valid
  /// until the next call. One thread at a time.
  /// @throws LookupError where the strategy says so (an absent file, a dtype without rows)
  /// @throws Error if a field its op needs is not a positive finite number, or nothing can price
  /// the op
  virtual const Estimate& estimate(const Query& query) const = 0;

  /// The same latency, MFU and evidence, without the work behind them. The answer is not kept,
  /// because prepared questions (prepared_questions.h) keep it; only the answer of a user's lookup
  /// is kept here too.
  /// @throws as estimate()
  virtual void answer(const Query& query, Estimate& estimate) const = 0;

  /// How far the rows that answer are from the format, engine and shape asked for, in doublings;
  /// infinite where no row answers. Rows of a lookup that does not tell count as 0.
  virtual double gap(const Query& query) const = 0;

  /// Whether nothing but the modelled kernel can price this op: no table of it here, nor in the
  /// tables of the GPU that lends.
  virtual bool only_models(Op op) const = 0;

  /// What the answer rests on, in words: table, rows and their lines, or why there is none.
  virtual std::string describe(const Query& query) const = 0;

  /// Same tables, another strategy. @throws Error with the known names
  virtual std::shared_ptr<const MfuDatabase> with_lookup(const std::string& lookup) const = 0;
  virtual std::shared_ptr<const MfuDatabase> with_lookup(const std::string& name,
                                                         UserLookup lookup) const = 0;
  /// The same tables, where the rows of `engine` are taken before those of others. Throws Error for
  /// an engine that is not known.
  virtual std::shared_ptr<const MfuDatabase> of_engine(const std::string& engine) const = 0;
  virtual const std::string& lookup() const = 0;
  virtual const std::optional<Hardware>& hardware() const = 0;
  virtual Layout layout() const = 0;
  /// The engine whose rows are taken before those of others.
  virtual const std::string& engine() const = 0;
  /// The engines whose rows stand in, in their order.
  virtual const Lenders& lenders() const = 0;
  /// Whether the rows that answer for an op in a format contain a part of another op, as
  /// tables.toml says ("quantize", "kv_write"): of the first table that may answer, which is the
  /// lender's where only that GPU was measured in this very format. Reads no table.
  virtual bool includes(Op op, Dtype format, std::string_view part) const = 0;
  /// Whether tables of this op are of this very format, or of one with the same kernels and speed.
  /// Reads no table.
  virtual bool holds_format(Op op, Dtype format) const = 0;
  /// Loads everything and lists it.
  virtual const std::vector<const KernelTable*>& tables() const = 0;
  /// How many tables have been read so far.
  virtual int tables_loaded() const = 0;
  /// The peak an MFU of this dtype refers to: the hardware's, else what the tables imply, else 0.
  virtual FlopPerSecond peak(Dtype dtype) const = 0;
};

std::vector<std::string> lookup_names();

}  // namespace rooflua
