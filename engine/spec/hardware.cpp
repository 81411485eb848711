#include "spec/hardware.h"

#include <algorithm>

#include "base/error.h"
#include "base/toml.h"
#include "spec/added_hardware.h"
#include "spec/catalogue.h"

namespace rooflua {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_name = "hardware.toml";

}  // namespace

std::optional<FlopPerSecond> Hardware::stated_peak(Dtype dtype) const {
  auto found = peak.find(dtype);
  const Dtype element = format_of(dtype).fallback_peak;
  const bool expanded = bytes_per_element(element) >= 2;
  if (found == peak.end() && !expanded) found = peak.find(element);
  if (found == peak.end()) return std::nullopt;
  return found->second;
}

bool Hardware::shares_bus() const {
  if (!host_bandwidth) return false;
  const double host = host_bandwidth->in_base_units();
  return host > 0 && host < 100e9 && link_bandwidth.in_base_units() <= 1.2 * host;
}

Dtype Hardware::computes_in(Dtype dtype) const {
  if (peak.contains(dtype)) return dtype;
  const Dtype element = format_of(dtype).fallback_peak;
  if (peak.contains(element)) return element;
  return bytes_per_element(dtype) < 2 ? Dtype::bf16 : dtype;
}

FlopPerSecond Hardware::peak_for(Dtype dtype) const {
  if (const auto stated = stated_peak(dtype)) return *stated;
  std::string known;
  for (const auto& [have, rate] : peak) {
    known += (known.empty() ? "" : ", ") + std::string(rooflua::name(have));
  }
  throw Error(name, "has no peak rate for " + std::string(rooflua::name(dtype)) + " (it has " +
                        known + ")");
}

namespace {

Hardware read_hardware(const fs::path& path, const fs::path& home) {
  const fs::path folder = fs::absolute(path).parent_path();
  Hardware hardware =
      hardware_from_table(read_toml(path), folder.filename().string(), path.string(), home);
  const std::string& lender = hardware.tables_from;
  if (!lender.empty() && !fs::exists(folder.parent_path() / lender / file_name)) {
    const fs::path shipped = home / "bench_data" / lender;
    if (fs::exists(shipped / file_name)) hardware.tables_from = fs::absolute(shipped).string();
  }
  return hardware;
}

/// A GPU that was added is called as it was added, whatever its file says.
Hardware read_added(const fs::path& path, const fs::path& home) {
  Hardware hardware = read_hardware(path, home);
  hardware.name = path.parent_path().filename().string();
  return hardware;
}

}  // namespace

Hardware hardware_from_toml(const fs::path& path) {
  const fs::path data = fs::absolute(path).parent_path().parent_path();
  return read_hardware(path, data.filename() == "bench_data" ? data.parent_path() : fs::path());
}

std::vector<std::string> hardware_names(const fs::path& home) {
  return hardware_names_in(home / "bench_data");
}

std::vector<std::string> all_hardware_names(const fs::path& home) {
  std::vector<std::string> names = hardware_names(home);
  const std::size_t shipped = names.size();
  for (const std::string& name : added_hardware_names()) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(shipped);
    if (std::find(names.begin(), end, name) == end) names.push_back(name);
  }
  return names;
}

Hardware load_hardware(const std::string& name_or_path, const fs::path& home) {
  const fs::path path = name_or_path;
  if (path.extension() == ".toml" && fs::exists(path)) return read_hardware(path, home);
  if (fs::exists(path / file_name)) return read_hardware(path / file_name, home);
  const auto file_of = [&](const std::string& name) {
    return home / "bench_data" / name / file_name;
  };
  const std::vector<std::string> names = hardware_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return read_hardware(file_of(name_or_path), home);
  }
  if (const auto added = added_hardware_file(name_or_path)) return read_added(*added, home);
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names)
    entries.push_back({name, stated_aliases(file_of(name))});
  const bool is_shipped = !claims(in_any_order(name_or_path, entries), entries).empty();
  for (const std::string& name : added_hardware_names()) {
    if (is_shipped) break;  // a mistake in an added file does not touch shipped GPUs
    if (fs::exists(file_of(name))) continue;  // a shipped name means the shipped GPU
    const fs::path file = *added_hardware_file(name);
    entries.push_back({name, stated_aliases(file), file.string()});
  }
  const std::string found = find_by_name("hardware", in_any_order(name_or_path, entries), entries);
  const auto added = fs::exists(file_of(found)) ? std::nullopt : added_hardware_file(found);
  return added ? read_added(*added, home) : read_hardware(file_of(found), home);
}

std::optional<fs::path> added_hardware_named(const std::string& name, const fs::path& home) {
  const std::vector<std::string> added = added_hardware_names();
  if (added.empty() || folded(name).empty()) return std::nullopt;
  try {
    const fs::path origin = load_hardware(name, home).origin;
    const bool is_added = std::any_of(added.begin(), added.end(), [&](const std::string& each) {
      return origin == added_hardware_folder() / each / "hardware.toml";
    });
    return is_added ? std::optional(origin) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // it names no GPU, or its file says nothing
  }
}

}  // namespace rooflua
