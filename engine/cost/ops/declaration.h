#pragma once
// What an op is, as data. The declaration of an op is the one place that knows its fields, its
// work, its tables and how their rows are read. Checks of questions, keys of remembered answers,
// columns and axes of tables, the questions of Lua and their help are made from it.
//
// To add an op, add its entry to declared.cpp: its fields, flop, bytes, modelled time and index.
// Without an index of its own, tables <file>_<dtype>.csv are read, rows answer along the axes, and
// other keys stand in.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cost/ops/query.h"

namespace rooflua {

class RowIndex;
struct Hardware;
struct KernelRow;
struct KernelTable;
namespace modelled {
struct Priced;
}

/// Most fields of an op, and most columns of a table that are a shape.
inline constexpr std::size_t max_fields = 16;
inline constexpr std::size_t max_axes = 12;

/// What a field is for when rows are searched.
enum class FieldRole : std::uint8_t {
  question,  // only questions have it: rows are those of one rank
  table,     // a flag that all rows of a table share: KernelTable::decode
  key,       // rows with another value answer only where none has this one
  near,      // rows with the nearest value answer
  scale,     // as near, and the latency is multiplied by the ratio of the two values
  axis,      // the answer is read between rows
  label,     // only tables have it: words that tell rows apart and that no question asks for
};

enum class FieldKind : std::uint8_t {
  real,
  count,     // a whole number
  flag,      // true or false
  word,      // one of Field::words
  kv_dtype,  // the format of the KV cache: Query::kv_dtype, KernelRow::kv_dtype
};

/// Which values a question may have.
enum class FieldNeed : std::uint8_t {
  nothing,          // anything
  zero,             // at least 0
  positive,         // above 0; at least 0 where a lookup imitates other software
  positive_always,  // above 0
  two,              // at least 2
};

/// When a field of an op with two tables is read.
enum class FieldWhen : std::uint8_t { always, decode, prefill };

struct FieldWord {
  std::string_view name;
  std::string_view also = {};  // another spelling in tables
  int group = 0;               // rows of a word of another group never stand in
};

struct Field {
  std::string_view name;    // in questions, and the name of the axis in tables
  QueryNumber number = {};  // none: the field is not a number of a question
  std::string_view unit = {};
  std::string_view doc = {};
  FieldRole role = FieldRole::near;
  FieldKind kind = FieldKind::real;
  FieldNeed need = FieldNeed::positive;
  FieldWhen when = FieldWhen::always;
  double otherwise = 0;          // what a question that leaves it out means
  double at_least = 0;           // of an axis: a smaller value is read as this one
  bool per_rank = false;         // tables have it divided by tp, but not below 1
  bool any = false;              // of a key: a question that leaves it out agrees with every row
  std::string_view axis = {};    // in tables, where it has another name; neighbours may share one
  std::string_view column = {};  // in our own files, where it has another name
  std::span<const FieldWord> words =
      {};  // of FieldKind::word; the code of a word is its position, from 1

  bool in_tables() const {
    return role != FieldRole::question && role != FieldRole::table && !is_kv();
  }
  bool is_kv() const { return kind == FieldKind::kv_dtype; }
  std::string_view axis_name() const { return axis.empty() ? name : axis; }
  std::string_view column_name() const { return column.empty() ? axis_name() : column; }
  bool read_by(const Query& q) const {
    return when == FieldWhen::always || (when == FieldWhen::decode) == (q.decode != 0);
  }
};

/// How a table's MFU column counts work. causal_half: 4 heads head_dim S^2 / 2.
enum class FlopConvention { gemm_2mkn, attention_full, attention_causal_half, none };
std::string_view name(FlopConvention convention);

/// The peak that an MFU refers to: of the format asked for, or of 16 bits whatever is asked for.
enum class PeakOf : std::uint8_t { dtype, sixteen_bits };

struct OpDeclaration {
  std::string_view name = {};
  std::string_view doc = {};
  std::span<const Field> fields = {};
  /// Work of one rank. `causal` is the part of the square of new tokens that counts, 1/2 or 1.
  /// Null: the op has no arithmetic.
  double (*flop)(const Query&, double causal) = nullptr;
  /// Bytes that one rank moves at least. Null: none.
  double (*bytes)(const Query&) = nullptr;
  PeakOf peak = PeakOf::sixteen_bits;
  FlopConvention convention = FlopConvention::none;  // none: its tables print no MFU
  /// Its time on a GPU without rows, one of model/kernel.h. Null: only tables price it.
  modelled::Priced (*model)(const Query&, const Hardware&) = nullptr;
  /// The index over its rows, index_over<> of one of cost/lookup. Null: DeclaredIndex, which finds
  /// rows by the fields that are keys and reads them along the axes.
  std::unique_ptr<RowIndex> (*index)(Op, const std::vector<const KernelTable*>&) = nullptr;
  bool over_links = false;  // bound by the links between GPUs, not by memory
  bool typed = true;        // which kernel runs depends on dtype, and each has a table of its own
  /// The format in the name of its tables is that of the KV cache; `typed` is false.
  bool format_of_kv = false;
  /// Rows whose shape is more doublings away than this do not answer.
  double farthest = std::numeric_limits<double>::infinity();
  /// Doublings of the shape that rows of another engine count, where it has kernels of its own
  /// (share_libraries of cost/lookup/lenders.h).
  double own_kernels_gap = 0.25;
  /// The first axes that all rows of a table share, so that they tell tables apart.
  int shape_axes = 0;
  /// Of our own files: <file>_<dtype>.csv, or <file>.csv; "_<engine>" may stand in front of ".csv".
  /// Empty: our layout has no such table.
  std::string_view file = {};
  bool dtype_in_name = true;
  bool imported = true;           // `data import` writes it
  std::string_view variant = {};  // KernelTable::variant of our own files
  /// Columns of our own files, where their order is not that of the fields.
  std::span<const std::string_view> columns = {};
  /// The question that a row answers, where fields and axes are not the same numbers.
  void (*from_row)(Query&, const KernelTable&, const KernelRow&) = nullptr;
  /// Axes that follow from others and are not in our own files.
  void (*complete_row)(std::array<double, max_axes>& shape) = nullptr;

  const Field* find(std::string_view field) const;
};

/// Every op, in the order of Op.
std::span<const OpDeclaration> declared_ops();
/// The ops that rooflua declares; declared_ops() of a test may have more.
std::span<const OpDeclaration> standard_ops();

const OpDeclaration& declaration_of(Op op);
std::string_view name(Op op);

/// Calls `each(field, place)` for the fields that tables have, with their place among the axes.
template <class Each>
void for_each_axis(const OpDeclaration& op, Each each) {
  std::size_t next = 0;
  std::string_view before;
  for (const Field& field : op.fields) {
    if (!field.in_tables()) continue;
    if (field.axis_name() != before) before = field.axis_name(), ++next;
    each(field, next - 1);
  }
}

/// The place of the last axis that rows are read along; max_axes where there is none.
std::size_t work_axis(const OpDeclaration& op);

/// Whether rows with the code `here` of a field may answer for the code `wanted`.
bool may_stand_in(const Field& field, double here, double wanted);

/// The code of a word; a word that is not declared has a code that no question asks for.
double code_of(const Field& field, std::string_view word);
inline constexpr double unknown_word = -1;

}  // namespace rooflua
