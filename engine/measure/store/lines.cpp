#include "measure/store/lines.h"

#include <fstream>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"

namespace rooflua {

namespace {

Json json_of(const ResultSet& set, std::int64_t position) {
  Json out = Json::object();
  out["set_hash"] = set.set_hash;
  out["title"] = set.title;
  out["total"] = set.total;
  out["file"] = set.file;
  out["position"] = position;
  return out;
}

ResultSet set_of(const Json& line) {
  return {text_of(line, "set_hash"), text_of(line, "title"), whole_of(line, "total"),
          text_of(line, "file")};
}

RunLine run_of(const Json& line) {
  RunLine out;
  out.row = {text_of(line, "run_hash"), text_of(line, "build"),      whole_of(line, "seed"),
             text_of(line, "scenario"), text_of(line, "parameters"), text_of(line, "document"),
             text_of(line, "report"),   text_of(line, "drawing"),    text_of(line, "host")};
  out.sound = text_of(line, "checksum") == checksum(out.row);
  if (const Json* sets = line.find("sets"); sets != nullptr && sets->is_array()) {
    for (const Json& each : sets->items())
      out.sets.push_back({set_of(each),
                          {text_of(each, "set_hash"), whole_of(each, "position"),
                           text_of(each, "name"), out.row.run_hash}});
  }
  return out;
}

/// Where the JSON of a line begins: logs of several machines may put a name in front of each line.
std::size_t begin_of(const std::string& line) {
  return line.find("{\"");
}

bool has_marks(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.find(lines_begin) != std::string::npos && line.find("{\"") == std::string::npos)
      return true;
  }
  return false;
}

/// @param found  lines of results before this one, which is none
[[noreturn]] void refuse(const std::string& file, int line, std::int64_t found) {
  if (found == 0)
    throw Error(file,
                "is no file of results: neither SQLite nor lines of `results export --format "
                "jsonl`, also in a log between BEGIN ROOFLUA RESULTS and END ROOFLUA RESULTS");
  throw Error(at(file, line),
              "is no line of `results export --format jsonl`, as those before it are; delete it, "
              "or export the results again");
}

Json line_of(const std::string& text, std::size_t begin, const std::string& place) {
  try {
    return parse_json(std::string_view(text).substr(begin), place);
  } catch (const Error&) {
    throw Error(place,
                "is cut off or was altered; export the results again, or delete the line to have "
                "the others");
  }
}

}  // namespace

void write_lines(const ResultStore& store, const std::function<void(const std::string&)>& write) {
  std::multimap<std::string, Json> places;
  const std::vector<ResultSet> sets = store.sets();
  for (const ResultSet& set : sets) {
    for (const SetMember& member : store.members(set.set_hash)) {
      Json place = json_of(set, member.position);
      place["name"] = member.name;
      places.emplace(member.run_hash, std::move(place));
    }
  }
  std::vector<std::string> altered;
  store.each_run([&](const ResultRow& row, bool sound) {
    if (!sound) {
      altered.push_back(row.run_hash);
      return;
    }
    Json line = Json::object();
    line["run_hash"] = row.run_hash;
    line["build"] = row.build;
    line["seed"] = row.seed;
    line["scenario"] = row.scenario;
    line["parameters"] = row.parameters;
    line["document"] = row.document;
    line["report"] = row.report;
    line["drawing"] = row.drawing;
    line["host"] = row.host;
    line["checksum"] = checksum(row);
    Json list = Json::array();
    const auto [first, last] = places.equal_range(row.run_hash);
    for (auto at = first; at != last; ++at) list.push_back(at->second);
    line["sets"] = std::move(list);
    write(dump_json(line) + "\n");
  });
  tell_left_out(store.file(), altered);
  for (const ResultSet& set : sets) {
    for (const RunFailure& failure : store.failures(set.set_hash)) {
      Json line = Json::object();
      line["failure"] = json_of(set, failure.position);
      line["failure"]["host"] = failure.host;
      line["failure"]["problem"] = failure.problem;
      line["failure"]["tries"] = failure.tries;
      write(dump_json(line) + "\n");
    }
  }
}

void read_lines(const std::filesystem::path& file,
                const std::function<void(const RunLine&)>& take_run,
                const std::function<void(const ResultSet&, const RunFailure&)>& take_failure) {
  const bool marked = has_marks(file);
  std::ifstream in(file);
  if (!in) throw Error(file.string(), "cannot be read");
  bool inside = !marked;
  std::int64_t found = 0;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    const std::size_t begin = begin_of(text);
    if (begin == std::string::npos) {
      if (text.find(lines_begin) != std::string::npos) inside = true;
      if (text.find(lines_end) != std::string::npos) inside = !marked;
      if (!marked && !text.empty()) refuse(file.string(), number, found);
      continue;
    }
    if (!inside) continue;
    const Json line = line_of(text, begin, at(file.string(), number));
    if (const Json* failure = line.find("failure")) {
      take_failure(set_of(*failure), {text_of(*failure, "set_hash"), whole_of(*failure, "position"),
                                      text_of(*failure, "host"), text_of(*failure, "problem"),
                                      whole_of(*failure, "tries")});
    } else {
      const RunLine run = run_of(line);
      if (run.row.run_hash.empty()) refuse(file.string(), number, found);
      take_run(run);
    }
    ++found;
  }
  if (found == 0 && !marked) throw Error(file.string(), "holds no results");
}

}  // namespace rooflua
