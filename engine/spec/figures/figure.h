#pragma once
// Figures: what a description of a model, a GPU or a deployment states. Each figure is one row of a
// table: its name, its member, its unit, its range, whether it may be left out, and a sentence.
// Readers of files, checks, JSON for scripts, type stubs and tables of documents all loop over
// these rows (rows.h makes them):
//
//     constexpr auto mamba_rows = rows_of<Mamba2>(
//         figure<&Mamba2::heads>("heads", "heads", 1, 1e4, needed, "of the state"),
//         figure<&Mamba2::head_dim>("head_dim", "elements", 1, 65536, needed, "of one head"));
//     template <>
//     const FigureTable& figures<Mamba2>() {
//       static const FigureTable table = table_of<Mamba2>("Mamba2", "a state space", mamba_rows);
//       return table;
//     }
//
// then read_figures(fields, mamba), check_figures(mamba, "a.toml: ") and figures_json(mamba).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/units.h"
#include "spec/dtype.h"

namespace rooflua {

/// Whether a description states a figure.
enum class Stated {
  needed,     // it must
  open,       // it may; where it is left out, the member keeps the value that it had before
  elsewhere,  // it may; other code than read_figures() reads it
  computed,   // it does not: the figure follows from others, and is only shown
};

struct FigureTable;

/// A member that is a word of a vocabulary (base/vocabulary.h).
struct WordPlace {
  void* member;
  std::string_view (*get)(const void* member);
  bool (*set)(void* member, std::string_view word);  // false: the vocabulary has no such word
  std::vector<std::string> (*names)();
};
/// A member with figures of its own: a std::optional or std::vector of another struct.
struct PartPlace {
  void* member;
  std::size_t (*count)(const void* member);
  void* (*item)(void* member, std::size_t i);
  void* (*add)(void* member);             // a part with initial values
  std::string (*name)(const void* item);  // of one in a list: "window_2"; empty: it has none
};
/// Where a figure of one object stands. Json: the value of a computed figure; null for none.
using FigurePlace =
    std::variant<int*, std::int64_t*, double*, bool*, std::string*, std::vector<std::string>*,
                 Dtype*, Bytes*, std::optional<int>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::optional<Dtype>*, std::optional<Bytes>*, WordPlace,
                 PartPlace, Json>;

struct FigureRow {
  std::string_view name = {};  // in JSON and scripts
  std::string_view key = {};   // in a file
  std::string_view unit = {};  // of a number, in messages: "layers", "tokens"
  double least = 0, most = 0;
  Stated stated = Stated::needed;
  std::string_view doc = {};
  std::string_view type = {};  // of a value in type stubs: "integer", "string"; empty: a part
  FigurePlace (*at)(void* whole) = nullptr;
  bool (*applies)(const void* whole) = nullptr;  // null: it belongs to every object
  const FigureTable& (*part)() = nullptr;        // of a part: the table of its figures
  bool list = false;                             // the part is a list
  bool among = false;                            // the part's keys stand among those of the whole
  bool apart = false;                            // only where the part has a table of its own
  bool unless_zero = false;                      // not in JSON where it is 0
  bool shown = true;                             // in JSON and scripts
};

struct FigureTable {
  std::string_view name;  // of the class in type stubs, without "rooflua."
  std::string_view doc;
  std::span<const FigureRow> rows;
  const void* initial;  // an object as it is before reading
};

/// The table of a struct. Each struct with figures has a specialisation.
template <class T>
const FigureTable& figures();

// `whole` is an object of the table's struct.
void read_figures(const FigureTable& table, const Fields& fields, void* whole, bool inherits,
                  bool among = false);
void check_figures(const FigureTable& table, const void* whole, const std::string& where,
                   bool among = false);
Json figures_json(const FigureTable& table, const void* whole);

/// Reads every key of the table that `fields` has, and checks it at once. Other keys stay unread:
/// the caller calls fields.finish().
/// @param inherits  `into` has the figures of an enclosing table: needed ones may be left out
/// @throws Error at the key, if it is missing, of another kind or out of range
template <class T>
void read_figures(const Fields& fields, T& into, bool inherits = false) {
  read_figures(figures<T>(), fields, &into, inherits);
}
/// @param where  in front of the key in messages: "a.toml: mla."
/// @throws Error "a.toml: mla.v_head_dim: expected 1 to 65536 elements, found 0"
template <class T>
void check_figures(const T& whole, const std::string& where) {
  check_figures(figures<T>(), &whole, where);
}
/// Every figure that belongs to `whole`, by its name.
template <class T>
Json figures_json(const T& whole) {
  return figures_json(figures<T>(), &whole);
}

/// What is wrong with a number, as "expected 1 to 1024 GPUs, found 0"; "" if nothing is.
std::string problem_of(const FigureRow& row, double value);
/// @throws Error at `where` if the number is out of the row's range
void check_range(const FigureRow& row, double value, const std::string& where);

/// A figure of a table, or of a part of it.
struct ListedFigure {
  std::string name;  // of scripts: "model.attention.index.heads"
  std::string key;   // of a file: "model.attention.index_heads"
  const FigureRow* row;
};
/// All figures of a table and of its parts, in order.
std::vector<ListedFigure> list_figures(const FigureTable& table, const std::string& prefix);
/// The row of that name, which the table has.
const FigureRow& row_named(const FigureTable& table, std::string_view name);
/// The tables of its parts, and of theirs, after the table itself.
void collect_tables(const FigureTable& table, std::vector<const FigureTable*>& out);
/// The value that a figure has where a description leaves it out; null: none, or it is needed.
Json left_out(const FigureTable& table, const FigureRow& row);
/// The words that a figure may be; empty for other kinds of figures.
std::vector<std::string> words_of(const FigureTable& table, const FigureRow& row);

}  // namespace rooflua
