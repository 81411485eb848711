#pragma once
// Lookups: which rows stand for a shape, and how (docs/MODELS.md). A lookup is a named strategy
// over the same tables; the database remembers its answers.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cost/lookup/lenders.h"
#include "cost/price/estimate.h"
#include "cost/tables/importers.h"
#include "cost/tables/kernel_table.h"
#include "cost/work/op_work.h"

namespace rooflua {

/// Where a reference policy raises an exception, and which.
enum class LookupFailure {
  no_table,          // AssertionError "... not exist."
  no_rows,           // ValueError "min() arg is an empty sequence"
  division_by_zero,  // ZeroDivisionError
};
class LookupError : public Error {
 public:
  LookupError(LookupFailure failure, std::string where, std::string what)
      : Error(std::move(where), std::move(what)), failure_(failure) {}
  LookupFailure failure() const { return failure_; }

 private:
  LookupFailure failure_;
};

/// Tables of one GPU, each read when first asked for.
class TableStore {
 public:
  explicit TableStore(std::vector<TableFile> files);
  explicit TableStore(std::vector<KernelTable> tables);

  const std::vector<TableFile>& files() const { return files_; }
  const KernelTable& table(std::size_t index) const { return *shared_table(index); }
  const std::shared_ptr<const KernelTable>& shared_table(std::size_t index) const;
  /// Every table of an op that answers questions, read now, in file-name order.
  std::vector<const KernelTable*> tables_of(Op op) const;
  /// By the last parts of its name ("mha/decode/h20/32-8-128.csv" or "gemm"); nothing if there is
  /// none.
  const KernelTable* named(std::string_view name) const;
  /// Whether a table of this op answers questions.
  bool has(Op op) const;
  int loaded() const;

 private:
  std::vector<TableFile> files_;
  mutable std::vector<std::shared_ptr<const KernelTable>> tables_;
};

/// Rows that an answer rests on. They are collected only for an explanation.
struct RowsUsed {
  struct Used {
    const KernelTable* table;
    int row;
  };
  std::vector<Used> used;
  std::string remark;
};
/// The remark, and up to eight rows with their lines, shapes and latencies.
std::string words(const RowsUsed& trace);

/// Knows how to answer from tables. `found` is false where no table has the op: the database then
/// asks a donor, then the modelled kernel.
class Lookup {
 public:
  virtual ~Lookup() = default;
  /// @param trace null, or where to note the rows used
  /// @return false if no table has this op
  virtual bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const = 0;
  /// How far the rows that answer are from format, engine and shape asked for, in doublings;
  /// infinite where none answers. Lookups that do not tell have 0.
  virtual double gap(const Query&) const { return 0; }
  /// Whether the rows that answer are of another number format that is not alike.
  virtual bool of_other_format(const Query&) const { return false; }
};

/// Whose kernels run, and whose rows stand in for theirs.
struct Kernels {
  std::string engine;  // as tables name it
  Lenders lenders;
};

/// What lookups need to know of the GPU.
struct LookupContext {
  std::shared_ptr<const TableStore> store;
  std::optional<Hardware> hardware;
  std::string gpu;  // as the tables are filed
  std::optional<double> default_mfu;
  Kernels kernels;

  /// The hardware's peak; else what the tables of this dtype imply; else 0.
  double peak_flop_per_s(Dtype dtype) const;
};

std::unique_ptr<Lookup> infersim_lookup(const LookupContext& context, bool head);
std::unique_ptr<Lookup> blis487_lookup(const LookupContext& context);
/// nearest, linear, log_linear, latency_linear, latency_log
std::unique_ptr<Lookup> grid_lookup(const LookupContext& context, std::string_view strategy);

/// Python's round(x, 3): the double nearest to the three-decimal rendering.
double round3(double value);

}  // namespace rooflua
