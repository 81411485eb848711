#include "spec/figures/figure.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace rooflua {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

bool applies(const FigureRow& row, const void* whole) {
  return row.applies == nullptr || row.applies(whole);
}

/// Where a figure of an object stands that is only looked at.
FigurePlace place_of(const FigureRow& row, const void* whole) {
  return row.at(const_cast<void*>(whole));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

// Values ------------------------------------------------------------------------------------------

/// One function for each kind of value: nothing if the key is absent.
std::optional<int> found(const Fields& fields, std::string_view key, const int*) {
  return fields.small_integer(key);
}
std::optional<std::int64_t> found(const Fields& fields, std::string_view key, const std::int64_t*) {
  return fields.integer(key);
}
std::optional<double> found(const Fields& fields, std::string_view key, const double*) {
  return fields.number(key);
}
std::optional<bool> found(const Fields& fields, std::string_view key, const bool*) {
  return fields.boolean(key);
}
std::optional<std::string> found(const Fields& fields, std::string_view key, const std::string*) {
  return fields.text(key);
}
std::optional<std::vector<std::string>> found(const Fields& fields, std::string_view key,
                                              const std::vector<std::string>*) {
  return fields.texts(key);
}
std::optional<Dtype> found(const Fields& fields, std::string_view key, const Dtype*) {
  const auto text = fields.text(key);
  return text ? std::optional(require_dtype(*text, fields.where(key))) : std::nullopt;
}
std::optional<Bytes> found(const Fields& fields, std::string_view key, const Bytes*) {
  const auto number = fields.number(key);
  return number ? std::optional(*number * unit::byte) : std::nullopt;
}
template <class T>
std::optional<T> found(const Fields& fields, std::string_view key, const std::optional<T>*) {
  return found(fields, key, static_cast<const T*>(nullptr));
}

Json shown(int value) {
  return value;
}
Json shown(std::int64_t value) {
  return value;
}
Json shown(double value) {
  return value;
}
Json shown(bool value) {
  return value;
}
Json shown(const std::string& value) {
  return value;
}
Json shown(const std::vector<std::string>& values) {
  return Json::Array(values.begin(), values.end());
}
Json shown(Dtype value) {
  return name(value);
}
Json shown(Bytes value) {
  return value.in_base_units();
}
template <class T>
Json shown(const std::optional<T>& value) {
  return value ? shown(*value) : Json();
}

/// The value of a figure; null for a part, and for a value that is not there.
Json value_at(const FigurePlace& place) {
  return std::visit(
      Overloaded{[](const WordPlace& word) { return Json(word.get(word.member)); },
                 [](const PartPlace&) { return Json(); }, [](const Json& json) { return json; },
                 [](const auto* at) { return shown(*at); }},
      place);
}

/// @throws Error at `where` if it is a number out of its range
void check_value(const FigureRow& row, const FigurePlace& place, const std::string& where) {
  const Json value = row.unit.empty() ? Json() : value_at(place);
  if (!value.is_null()) check_range(row, value.number(), where);
}

Json figure_json(const FigureRow& row, const FigurePlace& place) {
  if (row.part == nullptr) return value_at(place);
  const PartPlace& part = std::get<PartPlace>(place);
  Json::Array items;
  for (std::size_t i = 0; i < part.count(part.member); ++i)
    items.push_back(figures_json(row.part(), part.item(part.member, i)));
  if (row.list) return Json(std::move(items));
  return items.empty() ? Json() : items.front();
}

// Reading -----------------------------------------------------------------------------------------

/// Whether the key is there. @throws Error if it is needed and missing
bool stated(const FigureRow& row, const Fields& fields, bool inherits) {
  if (fields.has(row.key)) return true;
  if (row.stated != Stated::needed || inherits) return false;
  if (row.part != nullptr) fields.need_table(row.key);
  if (row.type == "integer") fields.need_integer(row.key);
  if (row.type == "number") fields.need_number(row.key);
  fields.need_text(row.key);
  return false;
}

void read_word(const FigureRow& row, const WordPlace& word, const Fields& fields) {
  const std::string text = fields.need_text(row.key);
  if (!word.set(word.member, text))
    throw Error(fields.where(row.key), unknown_name("word", text, word.names()));
}

/// A part that is there already has figures of an enclosing table.
void read_among(const FigureRow& row, const PartPlace& part, const Fields& fields) {
  if (row.stated == Stated::open && !fields.has(row.part().rows.front().key)) return;
  const bool inherits = part.count(part.member) > 0;
  void* item = inherits ? part.item(part.member, 0) : part.add(part.member);
  read_figures(row.part(), fields, item, inherits, true);
}

void read_part(const FigureRow& row, const PartPlace& part, const Fields& fields) {
  const auto read = [&](const Fields& own) {
    read_figures(row.part(), own, part.add(part.member), false);
    own.finish();
  };
  if (!row.list) return read(fields.need_table(row.key));
  for (const Fields& own : fields.tables(row.key)) read(own);
}

void read_value(const FigureRow& row, const FigurePlace& place, const Fields& fields) {
  if (!row.unit.empty()) check_range(row, *fields.number(row.key), fields.where(row.key));
  std::visit(Overloaded{[&](const WordPlace& word) { read_word(row, word, fields); },
                        [&](const PartPlace& part) { read_part(row, part, fields); },
                        [](const Json&) {}, [&](auto* at) { *at = *found(fields, row.key, at); }},
             place);
}

}  // namespace

void read_figures(const FigureTable& table, const Fields& fields, void* whole, bool inherits,
                  bool among) {
  for (const FigureRow& row : table.rows) {
    const bool here = row.stated == Stated::needed || row.stated == Stated::open;
    if (!here || (row.apart && among) || !applies(row, whole)) continue;
    const FigurePlace place = row.at(whole);
    if (row.among) {
      read_among(row, std::get<PartPlace>(place), fields);
    } else if (stated(row, fields, inherits)) {
      read_value(row, place, fields);
    }
  }
}

// Checks ------------------------------------------------------------------------------------------

namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  return std::isinf(value) ? (value > 0 ? "inf" : "-inf") : json_number(value);
}

/// A share that was given in percent: "; 92 % is 0.92".
std::string as_share(const FigureRow& row, double value) {
  if (row.unit != "1" || row.most != 1 || !(value > 1 && value <= 100)) return "";
  return "; " + json_number(value) + " % is " + json_number(value / 100);
}

}  // namespace

std::string problem_of(const FigureRow& row, double value) {
  const bool fraction = row.type == "integer" && std::isfinite(value) && value != std::floor(value);
  if (value >= row.least && value <= row.most && !fraction) return "";
  const std::string unit = row.unit == "1" ? "" : " " + std::string(row.unit);
  return std::string("expected ") + (fraction ? "a whole number from " : "") +
         json_number(row.least) + " to " + json_number(row.most) + unit + ", found " +
         number_text(value) + as_share(row, value);
}

void check_range(const FigureRow& row, double value, const std::string& where) {
  const std::string problem = problem_of(row, value);
  if (!problem.empty()) throw Error(where, problem);
}

namespace {

void check_parts(const FigureRow& row, const PartPlace& part, const std::string& where) {
  for (std::size_t i = 0; i < part.count(part.member); ++i) {
    void* item = part.item(part.member, i);
    const std::string name = part.name(item);
    std::string own = where + (row.among ? "" : std::string(row.key) + ".");
    if (row.list) own += (name.empty() ? std::to_string(i + 1) : name) + ".";
    check_figures(row.part(), item, own, row.among);
  }
}

}  // namespace

void check_figures(const FigureTable& table, const void* whole, const std::string& where,
                   bool among) {
  for (const FigureRow& row : table.rows) {
    if ((row.apart && among) || !applies(row, whole)) continue;
    const FigurePlace place = place_of(row, whole);
    if (const auto* part = std::get_if<PartPlace>(&place)) check_parts(row, *part, where);
    check_value(row, place, where + std::string(row.key));
  }
}

// Listings ----------------------------------------------------------------------------------------

Json figures_json(const FigureTable& table, const void* whole) {
  Json out = Json::object();
  for (const FigureRow& row : table.rows) {
    if (!row.shown || !applies(row, whole)) continue;
    Json value = figure_json(row, place_of(row, whole));
    const bool zero = row.unless_zero && value.number() == 0;
    if (!value.is_null() && !zero) out[row.name] = std::move(value);
  }
  return out;
}

namespace {

void list(const FigureTable& table, const std::string& name, const std::string& key, bool among,
          std::vector<ListedFigure>& out) {
  for (const FigureRow& row : table.rows) {
    if (row.apart && among) continue;
    const std::string own = name + std::string(row.name), own_key = key + std::string(row.key);
    out.push_back({own, own_key, &row});
    if (row.part == nullptr) continue;
    list(row.part(), own + ".", row.among ? key : own_key + ".", row.among, out);
  }
}

}  // namespace

std::vector<ListedFigure> list_figures(const FigureTable& table, const std::string& prefix) {
  std::vector<ListedFigure> out;
  list(table, prefix + ".", prefix + ".", false, out);
  return out;
}

const FigureRow& row_named(const FigureTable& table, std::string_view name) {
  const auto found = std::find_if(table.rows.begin(), table.rows.end(),
                                  [name](const FigureRow& row) { return row.name == name; });
  ROOFLUA_ASSERT(found != table.rows.end());
  return *found;
}

void collect_tables(const FigureTable& table, std::vector<const FigureTable*>& out) {
  if (std::find(out.begin(), out.end(), &table) != out.end()) return;
  out.push_back(&table);
  for (const FigureRow& row : table.rows) {
    if (row.part != nullptr) collect_tables(row.part(), out);
  }
}

std::vector<std::string> words_of(const FigureTable& table, const FigureRow& row) {
  if (row.stated == Stated::computed) return {};
  const FigurePlace place = place_of(row, table.initial);
  const auto* word = std::get_if<WordPlace>(&place);
  return word != nullptr ? word->names() : std::vector<std::string>();
}

Json left_out(const FigureTable& table, const FigureRow& row) {
  return row.stated == Stated::open ? figure_json(row, place_of(row, table.initial)) : Json();
}

}  // namespace rooflua
