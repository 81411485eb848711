// Which tables a folder holds, of whatever layout, and verify() over them.

#include <algorithm>
#include <set>

#include "base/error.h"
#include "cost/quality/verify.h"
#include "cost/tables/importers.h"
#include "cost/tables/published.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

/// A folder of ours: a datasheet, or tables named as ours are.
bool is_own(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  for (const char* file : {"hardware.toml", "tables.toml"}) {
    if (fs::is_regular_file(folder / file)) return true;
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    if (is_own_table(entry.path().stem().string())) return true;
  }
  return false;
}

fs::path tree_root(const fs::path& path) {
  return fs::is_directory(path / "bench_data") ? path / "bench_data" : path;
}

bool has_tp_files(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().stem().string().find("-tp") != std::string::npos) return true;
  }
  return false;
}

std::optional<Hardware> hardware_of(const std::string& gpu, const fs::path& path,
                                    const fs::path& home) {
  if (fs::is_regular_file(path / "hardware.toml"))
    return hardware_from_toml(path / "hardware.toml");
  if (gpu.empty()) return std::nullopt;
  std::string wanted = gpu;
  std::replace(wanted.begin(), wanted.end(), '_', '-');
  try {
    return load_hardware(wanted, home);
  } catch (const Error&) {
    return std::nullopt;  // a GPU we know nothing of: its tables are checked against themselves
  }
}

void append(VerifyReport& all, VerifyReport&& part) {
  std::move(part.tables.begin(), part.tables.end(), std::back_inserter(all.tables));
  std::move(part.findings.begin(), part.findings.end(), std::back_inserter(all.findings));
}

VerifyReport verify_gpu(const fs::path& path, Layout layout, const std::string& gpu,
                        const fs::path& home) {
  std::vector<KernelTable> tables;
  VerifyReport report;
  for (const TableFile& file : list_tables(path, layout, gpu)) {
    try {
      tables.push_back(read_table(file));
    } catch (const Error& error) {
      report.tables.push_back({file.name, file.path, 0, "", {}, file.source});
      Finding finding;
      finding.kind = FindingKind::unreadable;
      finding.table = file.name;
      finding.path = file.path;
      finding.count = 1;
      finding.text = error.what();
      report.findings.push_back(std::move(finding));
    }
  }
  std::vector<const KernelTable*> pointers;
  for (const KernelTable& table : tables) pointers.push_back(&table);
  append(report, verify(pointers, hardware_of(gpu, path, home)));
  for (const TableFile& file : list_tables(path, layout, gpu)) {
    if (layout != Layout::rooflua || (!file.source.empty() && file.unsaid.empty())) continue;
    Finding finding;
    finding.kind = FindingKind::undocumented;
    finding.table = file.name;
    finding.path = file.path;
    finding.count = 1;
    finding.text = file.source.empty() ? "tables.toml does not say how it was measured"
                                       : "tables.toml does not say: " + file.unsaid;
    report.findings.push_back(std::move(finding));
  }
  return report;
}

}  // namespace

std::optional<Layout> detect_layout(const fs::path& path) {
  const fs::path root = tree_root(path);
  for (const char* branch : {"mha", "mla", "gemm", "grouped_gemm", "gdn"}) {
    if (fs::is_directory(root / branch))
      return has_tp_files(root / "mha") ? Layout::blis : Layout::infersim;
  }
  if (is_own(path)) return Layout::rooflua;
  if (fs::is_directory(path) && !published_tables().gpus(path).empty()) return Layout::aic;
  return std::nullopt;
}

std::vector<std::string> gpus_in(const fs::path& path, Layout layout) {
  std::set<std::string> gpus;
  if (layout == Layout::infersim || layout == Layout::blis) {
    for (const char* branch :
         {"gemm", "mha/prefill", "mha/decode", "mla/prefill", "mla/decode", "grouped_gemm/prefill",
          "grouped_gemm/decode", "gdn/prefill", "gdn/decode"}) {
      const fs::path folder = tree_root(path) / branch;
      if (!fs::is_directory(folder)) continue;
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.is_directory()) gpus.insert(entry.path().filename().string());
      }
    }
  } else if (layout == Layout::aic) {
    return published_tables().gpus(path);
  } else {
    gpus.insert("");
  }
  return {gpus.begin(), gpus.end()};
}

VerifyReport verify(const fs::path& path, const fs::path& home) {
  if (!fs::is_directory(path)) throw Error(path.string(), "there is no such folder of tables");
  VerifyReport report;
  if (const auto layout = detect_layout(path)) {
    for (const std::string& gpu : gpus_in(path, *layout))
      append(report, verify_gpu(path, *layout, gpu, home));
    return report;
  }
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_directory() && detect_layout(entry.path())) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  if (folders.empty()) {
    throw Error(path.string(), "holds no tables of a known layout (rooflua, infersim, blis, aic)");
  }
  for (const fs::path& folder : folders) append(report, verify(folder, home));
  return report;
}

}  // namespace rooflua
