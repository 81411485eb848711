#include "measure/store/frame.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"

namespace rooflua {

namespace {

/// Walks the text of a document as it is stored: one line, without spaces. Thousands of documents
/// are written as a table, and most of the time would go into numbers that are read and written
/// again unchanged.
class Scalars {
 public:
  /// @param visit  gets the path of each scalar, its keys joined by "_", and its text as it stands.
  ///               What lists hold is left out.
  Scalars(std::string_view text, std::function<void(const std::string&, std::string_view)> visit)
      : text_(text), visit_(std::move(visit)) {}
  void walk() { value(); }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string_view token() {
    const std::size_t begin = at_;
    if (next() == '"') {
      for (++at_; at_ < text_.size() && next() != '"'; ++at_) at_ += next() == '\\' ? 1 : 0;
      ++at_;
    } else {
      while (at_ < text_.size() && next() != ',' && next() != '}' && next() != ']') ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  void skip_list() {
    int depth = 0;
    do {
      if (next() == '"') {
        token();
        continue;
      }
      if (next() == '[') ++depth;
      if (next() == ']') --depth;
      ++at_;
    } while (depth > 0 && at_ < text_.size());
  }
  void value() {
    if (next() == '[') return skip_list();
    if (next() != '{') return visit_(path_, token());
    ++at_;
    const std::size_t outside = path_.size();
    while (at_ < text_.size() && next() != '}') {
      const std::string_view key = token();
      ++at_;  // the colon
      if (outside > 0) path_ += '_';
      if (key.size() >= 2) path_.append(key.substr(1, key.size() - 2));
      value();
      path_.resize(outside);
      if (next() == ',') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::function<void(const std::string&, std::string_view)> visit_;
  std::size_t at_ = 0;
  std::string path_;
};

/// A scalar of JSON as a cell of a CSV file.
std::string cell_of(std::string_view scalar) {
  if (scalar == "null") return "";
  if (scalar.empty() || scalar.front() != '"') return std::string(scalar);
  return csv_cell(parse_json(scalar, "document").text());
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

const std::string own = "own_";  // stands before metrics that a scenario declares

/// Whether a column is asked for; metrics of a scenario also by the name that it gave them.
bool is_selected(const std::string& column, const std::vector<std::string>& select) {
  const auto has = [&](const std::string& name) {
    return std::find(select.begin(), select.end(), name) != select.end();
  };
  return select.empty() || has(column) ||
         (column.rfind(own, 0) == 0 && has(column.substr(own.size())));
}

void check_selected(const std::vector<std::string>& select, const std::vector<std::string>& known) {
  for (const std::string& each : select) {
    if (std::find(known.begin(), known.end(), each) == known.end() &&
        std::find(known.begin(), known.end(), own + each) == known.end())
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

std::vector<std::string> chosen_builds(const ResultStore& store, const std::string& build) {
  std::vector<std::string> all = store.builds();
  if (build.empty()) return all;
  if (std::find(all.begin(), all.end(), build) != all.end()) return {build};
  std::string known;
  for (const std::string& each : all) known += (known.empty() ? "" : ", ") + each;
  throw Error("--build " + build, known.empty()
                                      ? "the file has no runs"
                                      : "no run is of this build (there are " + known + ")");
}

void each_chosen(const ResultStore& store, const FrameChoice& choice,
                 const std::function<void(const NamedRun&)>& visit) {
  const std::vector<std::string> builds = chosen_builds(store, choice.build);
  std::unordered_set<std::string> seen;
  std::vector<std::string> left_out;
  const auto tell = [&] {
    std::sort(left_out.begin(), left_out.end());
    left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
    tell_left_out(store.file(), left_out);
  };
  const auto key = [](const std::string& run_hash, const std::string& build) {
    return run_hash + " " + build;
  };
  for (const ResultSet& set : chosen_sets(store, choice.set)) {
    for (const SetMember& member : store.members(set.set_hash)) {
      for (const std::string& build : builds) {
        bool altered = false;
        auto row = store.find(member.run_hash, build, altered);
        // A set may contain a run twice, under two names; other sets only show what is new.
        if (altered) left_out.push_back(key(member.run_hash, build));
        if (!row) continue;
        if (choice.set.empty() && !seen.insert(key(member.run_hash, build)).second) continue;
        visit({std::move(*row), set, member.name, member.position});
      }
    }
  }
  if (!choice.set.empty()) return tell();
  for (const RunKey& run : store.keys()) {
    if (!choice.build.empty() && run.build != choice.build) continue;
    if (seen.count(key(run.run_hash, run.build)) > 0) continue;
    bool altered = false;
    if (auto row = store.find(run.run_hash, run.build, altered))
      visit({std::move(*row), {}, "", 0});
    if (altered) left_out.push_back(key(run.run_hash, run.build));
  }
  tell();
}

std::string csv_of(const ResultStore& store, const FrameChoice& choice,
                   const std::vector<std::string>& select) {
  Columns columns;
  std::set<std::size_t> kept;  // of a selection
  std::vector<std::vector<std::pair<std::size_t, std::string>>> rows;
  each_chosen(store, choice, [&](const NamedRun& run) {
    auto& row = rows.emplace_back();
    const auto keep = [&](const std::string& column, std::string text) {
      const std::size_t number = columns.number(column);
      kept.insert(number);
      row.emplace_back(number, std::move(text));
    };
    keep("run_hash", run.row.run_hash);
    keep("build", csv_cell(run.row.build));
    keep("seed", std::to_string(run.row.seed));
    keep("name", csv_cell(run.name));
    std::set<std::string> taken(std::begin(always), std::end(always));
    Scalars(run.row.parameters, [&](const std::string& column, std::string_view value) {
      if (taken.insert(column).second) keep(column, cell_of(value));
    }).walk();
    Scalars(run.row.document, [&](const std::string& path, std::string_view value) {
      if (is_always(path) || path.rfind("parameters", 0) == 0) return;
      const std::string column = path.rfind("summary_", 0) == 0 ? path.substr(8) : path;
      if (is_selected(column, select)) {
        keep(column, cell_of(value));
      } else {
        columns.number(column);
      }
    }).walk();
  });
  if (!rows.empty()) check_selected(select, columns.names);
  // Parameters of later runs may be new columns: the order is that of the first run that has them.
  const std::vector<std::size_t> order(kept.begin(), kept.end());
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

std::string document_of(const ResultStore& store, const FrameChoice& choice) {
  std::set<std::string> builds;
  const std::vector<ResultSet> sets = chosen_sets(store, choice.set);
  std::string variants;
  each_chosen(store, choice, [&](const NamedRun& run) {
    // The keys of a variant in front of what is stored: as text, because it stays as it is.
    std::string document = run.row.document;
    if (constexpr std::string_view head = "{\"name\":\""; document.rfind(head, 0) == 0) {
      std::size_t end = head.size();
      while (end < document.size() && document[end] != '"') end += document[end] == '\\' ? 2 : 1;
      document.replace(0, end + 1, "{\"name\":" + dump_json(run.name));
    }
    if (document.size() < 3 || document.back() != '}')
      throw Error(store.file(), "run " + run.row.run_hash + ": its document is no object of JSON");
    bool has_seed = false;  // as the runs of a search have
    Scalars(document, [&](const std::string& path, std::string_view) {
      has_seed |= path == "seed";
    }).walk();
    document.pop_back();
    document += ",\"run_hash\":" + dump_json(run.row.run_hash) +
                ",\"build\":" + dump_json(run.row.build) +
                (has_seed ? "" : ",\"seed\":" + std::to_string(run.row.seed)) + "}";
    builds.insert(run.row.build);
    variants += (variants.empty() ? "\n" : ",\n") + document;
  });
  Json head = Json::object();
  head["schema"] = 1;
  if (builds.size() == 1) head["build"] = *builds.begin();
  if (sets.size() == 1) {
    head["scenario"] = sets.front().file;
    head["title"] = sets.front().title;
  }
  std::string out = dump_json(head);
  out.pop_back();
  return out + ",\"variants\":[" + variants + "\n]}\n";
}

}  // namespace rooflua
