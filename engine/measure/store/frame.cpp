#include "measure/store/frame.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"

namespace rooflua {

namespace {

void flatten(std::vector<Cell>& out, const Json& value, const std::string& column) {
  if (value.is_object()) {
    for (const Json::Member& each : value.members())
      flatten(out, each.value, column.empty() ? each.key : column + "_" + each.key);
  } else if (!value.is_array()) {
    out.push_back({column, value});
  }
}

/// A cell of a CSV file: numbers as JSON writes them, texts in quotes where they need them.
std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_text()) return dump_json(value);
  const std::string& text = value.text();
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

constexpr const char* always[] = {"run_hash", "build", "seed", "name"};

bool is_always(const std::string& column) {
  return std::find(std::begin(always), std::end(always), column) != std::end(always);
}

/// The columns of a frame in the order in which runs bring them, each with its number.
class Columns {
 public:
  std::size_t number(const std::string& name) {
    const auto [at, is_new] = numbers_.emplace(name, names.size());
    if (is_new) names.push_back(name);
    return at->second;
  }
  std::vector<std::string> names;

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

void check_selected(const std::vector<std::string>& select, const std::vector<std::string>& known) {
  for (const std::string& each : select) {
    if (std::find(known.begin(), known.end(), each) == known.end())
      throw Error("--select", unknown_name("metric", each, known));
  }
}

}  // namespace

std::vector<ResultSet> chosen_sets(const ResultStore& store, const std::string& set) {
  std::vector<ResultSet> all = store.sets(), out;
  for (const ResultSet& each : all) {
    if (each.set_hash.compare(0, set.size(), set) == 0) out.push_back(each);
  }
  if (!out.empty() || set.empty()) return out;
  std::string known;
  for (const ResultSet& each : all)
    known += (known.empty() ? "" : ", ") + each.set_hash.substr(0, 8);
  throw Error("--set " + set, known.empty() ? "the file has no sets"
                                            : "no set begins so (there are " + known + ")");
}

void each_chosen(const ResultStore& store, const FrameChoice& choice,
                 const std::function<void(const NamedRun&)>& visit) {
  const std::vector<std::string> builds =
      choice.build.empty() ? store.builds() : std::vector<std::string>{choice.build};
  std::set<std::pair<std::string, std::string>> seen;
  for (const ResultSet& set : chosen_sets(store, choice.set)) {
    for (const SetMember& member : store.members(set.set_hash)) {
      for (const std::string& build : builds) {
        bool altered = false;
        const auto row = store.find(member.run_hash, build, altered);
        // A set may contain a run twice, under two names; other sets only show what is new.
        if (!row || (choice.set.empty() && !seen.insert({member.run_hash, build}).second)) continue;
        visit({*row, set, member.name, member.position});
      }
    }
  }
  if (!choice.set.empty()) return;
  store.each_run([&](const ResultRow& row, bool sound) {
    if (!sound || seen.count({row.run_hash, row.build}) > 0) return;
    if (choice.build.empty() || row.build == choice.build) visit({row, {}, "", 0});
  });
}

std::vector<Cell> cells(const NamedRun& run) {
  std::vector<Cell> out{{"run_hash", run.row.run_hash},
                        {"build", run.row.build},
                        {"seed", run.row.seed},
                        {"name", run.name}};
  const Json parameters = parse_json(run.row.parameters, "parameters");
  if (parameters.is_object()) {
    for (const Json::Member& each : parameters.members()) {
      if (!is_always(each.key)) out.push_back({each.key, each.value});
    }
  }
  const Json document = parse_json(run.row.document, "document");
  if (!document.is_object()) return out;
  for (const Json::Member& each : document.members()) {
    if (each.key == "parameters" || is_always(each.key)) continue;
    flatten(out, each.value, each.key == "summary" ? "" : each.key);
  }
  return out;
}

std::string csv_of(const ResultStore& store, const FrameChoice& choice,
                   const std::vector<std::string>& select) {
  Columns columns;
  std::set<std::size_t> kept;  // of a selection
  std::vector<std::vector<std::pair<std::size_t, std::string>>> rows;
  each_chosen(store, choice, [&](const NamedRun& run) {
    const Json parameters = parse_json(run.row.parameters, "parameters");
    auto& row = rows.emplace_back();
    for (const Cell& each : cells(run)) {
      const std::size_t number = columns.number(each.column);
      if (select.empty() || is_always(each.column) || parameters.find(each.column) != nullptr ||
          std::find(select.begin(), select.end(), each.column) != select.end()) {
        kept.insert(number);
        row.emplace_back(number, csv_cell(each.value));
      }
    }
  });
  if (!rows.empty()) check_selected(select, columns.names);
  // Parameters of later runs may be new columns: the order is that of the first run that has them.
  std::vector<std::size_t> order(kept.begin(), kept.end());
  std::string out;
  const auto end_line = [&] { out.back() = '\n'; };
  for (const std::size_t column : order) out += csv_cell(columns.names[column]) + ",";
  if (!order.empty()) end_line();
  std::vector<const std::string*> cells_of_row(columns.names.size());
  for (const auto& row : rows) {
    std::fill(cells_of_row.begin(), cells_of_row.end(), nullptr);
    for (const auto& [column, text] : row) cells_of_row[column] = &text;
    for (const std::size_t column : order) {
      if (cells_of_row[column] != nullptr) out += *cells_of_row[column];
      out += ',';
    }
    end_line();
  }
  return out;
}

Json document_of(const ResultStore& store, const FrameChoice& choice) {
  Json out = Json::object(), variants = Json::array();
  std::set<std::string> builds;
  const std::vector<ResultSet> sets = chosen_sets(store, choice.set);
  each_chosen(store, choice, [&](const NamedRun& run) {
    Json document = parse_json(run.row.document, store.file());
    if (document.find("name") != nullptr) document["name"] = run.name;
    document["run_hash"] = run.row.run_hash;
    document["build"] = run.row.build;
    document["seed"] = run.row.seed;
    builds.insert(run.row.build);
    variants.push_back(std::move(document));
  });
  out["schema"] = 1;
  if (builds.size() == 1) out["build"] = *builds.begin();
  if (sets.size() == 1) {
    out["scenario"] = sets.front().file;
    out["title"] = sets.front().title;
  }
  out["variants"] = std::move(variants);
  return out;
}

}  // namespace rooflua
