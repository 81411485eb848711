#include "cost/quality/folder_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/gzip.h"
#include "base/numbers/digits.h"
#include "base/toml.h"
#include "cost/quality/questions.h"
#include "cost/tables/columns.h"
#include "cost/tables/importers.h"
#include "cost/tables/lines.h"
#include "cost/work/op_work.h"
#include "spec/catalogue.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

constexpr double other_unit = 200;  // median of measured over modelled, or the other way round
constexpr double falls_to = 0.5;
constexpr std::string_view not_tables[] = {"power"};  // watts, docs/DATA.md

/// What to do about a finding of verify().
std::string advice_for(std::string_view kind) {
  static const std::map<std::string_view, const char*> known = {
      {"above_peak",
       "no kernel is faster than the peak: is the peak of hardware.toml right, and "
       "latency_us in microseconds?"},
      {"duplicate_key", "keep one line of each shape"},
      {"no_header", "begin the file with the names of its columns"},
      {"not_positive", "delete the line and measure its shape again"},
      {"impossible_shape", "delete the line and measure its shape again"},
      {"impossible_latency", "latency_us is in microseconds"},
      {"quantiles", "latency_us is the median: latency_us_p10 <= latency_us <= latency_us_p90"},
      {"spread", "clocks or other work on the GPU changed: measure these shapes again"},
      {"undocumented", "say in tables.toml how it was measured"},
      {"warm_up", "measure the first shape again"}};
  const auto found = known.find(kind);
  return found == known.end() ? "" : found->second;
}

/// The names of a file's columns; none where its first line is a row.
std::vector<std::string> header_of(const fs::path& path) {
  const std::string text = read_text(path);
  LineReader lines(text);
  Line line;
  if (!lines.next(line) || as_number(line.cells[line.count - 1])) return {};
  return {line.cells.begin(), line.cells.begin() + static_cast<std::ptrdiff_t>(line.count)};
}

/// What an error says of a place in a file: "hardware.toml:12: memory_gb: found 2".
struct Place {
  int line = 0;  // 0: of the whole file
  std::string text;
};
Place place_in(const fs::path& file, const std::string& message) {
  Place out{0, message};
  if (!message.starts_with(file.string() + ":")) return out;
  out.text.erase(0, file.string().size() + 1);
  std::size_t digits = 0;
  while (digits < out.text.size() && out.text[digits] >= '0' && out.text[digits] <= '9') ++digits;
  if (digits > 0) out.line = std::atoi(out.text.c_str());
  out.text.erase(0, digits);
  out.text.erase(0, out.text.find_first_not_of(": "));
  return out;
}

class FolderCheck {
 public:
  FolderCheck(const fs::path& folder, const fs::path& home) : folder_(folder), home_(home) {}

  FolderReport run() {
    if (!fs::is_directory(folder_)) {
      throw Error(folder_.string(), fs::exists(folder_) ? "is no folder of tables"
                                                        : "there is no such folder of tables");
    }
    read_hardware();
    check_files();
    check_entries();
    check_tables();
    std::stable_sort(
        report_.problems.begin(), report_.problems.end(),
        [](const FolderProblem& a, const FolderProblem& b) { return a.is_error && !b.is_error; });
    return std::move(report_);
  }

 private:
  void error(std::string kind, const fs::path& file, int line, std::string text,
             std::string advice) {
    report_.problems.push_back(
        {true, std::move(kind), file, line, std::move(text), std::move(advice)});
  }

  void read_hardware() {
    const fs::path file = folder_ / "hardware.toml";
    if (!fs::exists(file)) {
      error("no_datasheet", file, 0, "there is no such file",
            "copy that of a similar GPU from bench_data and change its figures, or let "
            "scripts/collect/measure write it");
      return;
    }
    try {
      report_.hardware = load_hardware(file.string(), home_);
    } catch (const Error& problem) {
      const Place place = place_in(file, problem.what());
      error("datasheet", file, place.line, place.text,
            "docs/DATA.md, \"Adding a GPU\", has the keys of hardware.toml");
    }
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }

  void check_files() {
    std::vector<std::string> ops;
    for (const OpDeclaration& op : declared_ops()) {
      if (!op.file.empty()) ops.push_back(std::string(op.file) + (op.dtype_in_name ? "_bf16" : ""));
    }
    for (const fs::path& file : files()) {
      const std::string stem = file.stem().string(), end = file.extension().string();
      if (end == ".csv" && is_own_table(stem)) {
        tables_.push_back(stem);
      } else if (end == ".csv" && std::ranges::find(not_tables, stem) == std::end(not_tables)) {
        error("no_table", file, 0, unknown_name("table", stem, ops),
              "a table is called <op>_<dtype>.csv, as gemm_bf16.csv");
      } else if (fs::is_directory(file) || (end != ".csv" && end != ".toml" && end != ".md")) {
        report_.problems.push_back({false, "not_read", file, 0, "nothing reads it", ""});
      }
    }
    if (tables_.empty()) {
      error("no_tables", folder_, 0, "holds no table", "scripts/collect/measure writes them");
    }
  }

  void check_entries() {
    const fs::path file = folder_ / "tables.toml";
    if (!fs::exists(file)) return;  // verify() says that nothing is documented
    try {
      const Json document = read_toml(file);
      for (const auto& [name, entry] : document.members()) {
        const Json* measured = entry.find("measured");
        if (measured != nullptr && measured->is_boolean() && !measured->boolean()) {
          report_.problems.push_back({false, "not_measured", file, entry.line,
                                      "[" + name + "]: its times come from no GPU",
                                      "a rehearsal is no evidence: measure it"});
        }
        note_shipped(file, entry);
        if (std::find(tables_.begin(), tables_.end(), name) != tables_.end()) continue;
        error("no_file", file, entry.line, "[" + name + "]: there is no " + name + ".csv",
              suggested(name));
      }
    } catch (const Error& problem) {
      const Place place = place_in(file, problem.what());
      error("unreadable", file, place.line, place.text, "");
      tables_toml_reads_ = false;
    }
  }

  /// A GPU that is shipped under the name that its tables state: once, where nothing is borrowed.
  void note_shipped(const fs::path& file, const Json& entry) {
    const Json* gpu = entry.find("gpu");
    if (noted_shipped_ || gpu == nullptr || !gpu->is_text()) return;
    if (!report_.hardware || !report_.hardware->tables_from.empty()) return;
    for (const std::string& name : hardware_names(home_)) {
      const Hardware shipped = load_hardware(name, home_);
      const bool same = std::ranges::any_of(shipped.aliases, [&](const std::string& alias) {
        return folded(alias) == folded(gpu->text());
      });
      if (!same) continue;
      noted_shipped_ = true;
      report_.problems.push_back({false, "shipped", file, gpu->line,
                                  gpu->text() + " is the shipped " + name,
                                  "tables_from = \"" + name +
                                      "\" in hardware.toml lends what has no table here, and the "
                                      "figures of its datasheet are better than the driver's"});
      return;
    }
  }

  std::string suggested(const std::string& name) const {
    const std::vector<std::string> near = suggestions(name, tables_);
    return near.empty() ? "delete the entry, or put the table back"
                        : "did you mean '" + near.front() + "'?";
  }

  void check_tables() {
    if (!tables_toml_reads_ || tables_.empty()) return;
    std::vector<TableFile> files;
    try {
      files = list_tables(folder_, Layout::rooflua, "");
      take(verify(folder_, home_));
    } catch (const Error& problem) {
      const bool is_datasheet = problem.where().find("hardware.toml") != std::string::npos;
      const fs::path file = folder_ / "tables.toml";
      const Place place = place_in(file, problem.what());
      if (!is_datasheet) error("unreadable", file, place.line, place.text, "");
    }
    for (const TableFile& file : files) check_table(file);
  }

  void take(VerifyReport verified) {
    report_.tables = std::move(verified.tables);
    for (const Finding& finding : verified.findings) {
      if (finding.kind == FindingKind::hole) continue;
      const std::string kind(name(finding.kind));
      const bool is_error = rooflua::is_error(finding.kind);
      const bool reads = finding.kind != FindingKind::unreadable;
      Place place{finding.lines.empty() ? 0 : finding.lines.front(), finding.text};
      if (!reads) place = place_in(finding.path, finding.text);
      report_.problems.push_back({is_error, kind, finding.path, place.line, std::move(place.text),
                                  reads ? advice_for(kind) : unit_advice(finding)});
    }
  }

  /// A latency in another unit is the column that is missing.
  static std::string unit_advice(const Finding& finding) {
    for (const auto& [column, factor] :
         {std::pair{"latency_ms", "1,000"}, {"latency_s", "1,000,000"}, {"latency_ns", "0.001"}}) {
      if (finding.text.find(column) == std::string::npos) continue;
      return std::string("multiply ") + column + " by " + factor + " and call it latency_us";
    }
    return "";
  }

  void check_table(const TableFile& file) {
    KernelTable table;
    try {
      table = read_table(file);
    } catch (const Error&) {
      return;  // verify() has said so
    }
    check_columns(file);
    if (!report_.hardware) return;
    check_unit(table);
    check_floor(table);
    check_falls(table);
  }

  void check_columns(const TableFile& file) {
    std::vector<std::string> known;
    for (const Column& column : columns_of(file)) known.emplace_back(column.name);
    for (const std::string& column : header_of(file.path)) {
      if (std::find(known.begin(), known.end(), column) != known.end()) continue;
      error("unknown_column", file.path, 1,
            "nothing reads it: " + unknown_name("column", column, known),
            "delete the column, or correct its name");
    }
  }

  /// Latencies of all rows against those of the modelled kernel: three orders of magnitude apart,
  /// they are in another unit.
  void check_unit(const KernelTable& table) {
    DatabaseOptions options;
    options.hardware = report_.hardware;
    options.hardware->tables_from.clear();
    const auto modelled = MfuDatabase::from_tables({}, options);
    std::vector<double> ratios;
    for (const Question& question : questions_of(table)) {
      if (!modelled->prices(question.query)) continue;
      try {
        const double expected = modelled->estimate(question.query).latency_s;
        if (expected > 0) ratios.push_back(question.measured_s / expected);
      } catch (const Error&) {
        continue;  // a shape that cannot be, which verify() names
      }
    }
    if (ratios.empty()) return;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    if (*middle<other_unit&& * middle> 1 / other_unit) return;
    const bool slow = *middle > 1;
    error("unit", table.path, 1,
          "its times are " + significant(slow ? *middle : 1 / *middle, 2) + " times " +
              (slow ? "longer" : "shorter") + " than those of the modelled kernel",
          std::string("latency_us is in microseconds; are these ") +
              (slow ? "nanoseconds?" : "milliseconds or seconds?"));
    other_unit_.push_back(table.name);
  }

  bool has_other_unit(const KernelTable& table) const {
    return std::find(other_unit_.begin(), other_unit_.end(), table.name) != other_unit_.end();
  }

  /// What does not fit into the last-level cache comes from memory.
  void check_floor(const KernelTable& table) {
    if (has_other_unit(table)) return;
    const Hardware& gpu = *report_.hardware;
    int count = 0;
    const KernelRow* first = nullptr;
    double first_s = 0;
    for (const KernelRow& row : table.rows) {
      if (table.op == Op::grouped_gemm || !(row.latency_s > 0)) continue;
      const Query query = query_of(table, row);
      if (over_links(query)) continue;
      const double outside = bytes_of(query) - gpu.l2.in_base_units();
      const double least_s = outside / gpu.memory_bandwidth.in_base_units();
      if (!(least_s > row.latency_s)) continue;
      if (count++ == 0) first = &row, first_s = least_s;
    }
    if (first == nullptr) return;
    error("below_floor", table.path, first->line,
          significant(first->latency_s * 1e6, 4) +
              " us, and what does not fit into the cache "
              "takes " +
              significant(first_s * 1e6, 4) + " us at the bandwidth of the memory" + more(count),
          "is memory_gb_per_s of hardware.toml right, and did the kernel run at all?");
  }

  static std::string more(int count) {
    return count > 1 ? " (" + std::to_string(count) + " rows)" : "";
  }

  /// Twice the work in half the time is another kernel's row, or a slip.
  void check_falls(const KernelTable& table) {
    const std::size_t axis = work_axis(declaration_of(table.op));
    if (axis == max_axes) return;
    std::vector<const KernelRow*> rows;
    for (const KernelRow& row : table.rows) rows.push_back(&row);
    const auto key = [axis](const KernelRow& row) {
      auto shape = row.shape;
      shape[axis] = 0;
      return std::pair{shape, row.kv_dtype};
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const KernelRow* a, const KernelRow* b) {
      return std::pair{key(*a), a->shape[axis]} < std::pair{key(*b), b->shape[axis]};
    });
    int count = 0;
    const KernelRow *first = nullptr, *smaller = nullptr;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const KernelRow &before = *rows[i - 1], &after = *rows[i];
      if (key(before) != key(after) || after.shape[axis] == before.shape[axis]) continue;
      if (!(after.latency_s < falls_to * before.latency_s) || !(after.latency_s > 0)) continue;
      if (count++ == 0) first = &after, smaller = &before;
    }
    if (first == nullptr) return;
    error("falls", table.path, first->line,
          significant(first->latency_s * 1e6, 4) + " us at " + table.axes[axis] + " " +
              significant(first->shape[axis], 6) + ", and line " + std::to_string(smaller->line) +
              " has " + significant(smaller->latency_s * 1e6, 4) + " us at " +
              significant(smaller->shape[axis], 6) + more(count),
          "more work takes less than half the time: delete the wrong line and measure it again");
  }

  fs::path folder_, home_;
  FolderReport report_;
  std::vector<std::string> tables_, other_unit_;
  bool tables_toml_reads_ = true, noted_shipped_ = false;
};

}  // namespace

std::string FolderProblem::message() const {
  return (line > 0 ? at(file.string(), line) : file.string()) + ": " + kind + ": " + text +
         (advice.empty() ? "" : "; " + advice);
}

int FolderReport::errors() const {
  return static_cast<int>(
      std::ranges::count_if(problems, [](const FolderProblem& each) { return each.is_error; }));
}
int FolderReport::notes() const {
  return static_cast<int>(problems.size()) - errors();
}

FolderReport check_folder(const fs::path& folder, const fs::path& home) {
  return FolderCheck(folder, home).run();
}

}  // namespace rooflua
