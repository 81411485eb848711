#include "spec/hardware.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/toml.h"
#include "spec/catalogue.h"

namespace rooflua {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_name = "hardware.toml";

void read_peaks(Hardware& hardware, const Fields& fields) {
  const Fields peaks = fields.need_table("peak_tflop_per_s");
  for (const Json::Member& member : peaks.object().members()) {
    const Dtype dtype = require_dtype(member.key, peaks.where(member.key));
    hardware.peak[dtype] = *peaks.number(member.key) * unit::TFLOP / unit::s;
  }
}

void read_sources(Hardware& hardware, const Fields& fields) {
  const auto sources = fields.table("sources");
  if (!sources) return;
  for (const Json::Member& member : sources->object().members()) {
    if (!fields.has(member.key)) {
      throw Error(sources->where(member.key), "is the source of a key that is not there");
    }
    hardware.sources[member.key] = sources->need_text(member.key);
  }
}

}  // namespace

FlopPerSecond Hardware::peak_for(Dtype dtype) const {
  const auto found = peak.find(dtype);
  if (found != peak.end()) return found->second;
  std::string known;
  for (const auto& [have, rate] : peak) {
    known += (known.empty() ? "" : ", ") + std::string(rooflua::name(have));
  }
  throw Error(name, "has no peak rate for " + std::string(rooflua::name(dtype)) + " (it has " +
                        known + ")");
}

Hardware hardware_from_table(const Json& table, const std::string& name,
                             const std::string& origin) {
  const Fields fields(table, origin);
  Hardware hardware;
  hardware.name = fields.text("name").value_or(name);
  hardware.origin = origin;
  hardware.aliases = fields.texts("aliases");
  hardware.architecture = fields.need_text("architecture");
  read_peaks(hardware, fields);
  hardware.memory_bandwidth = fields.need_number("memory_gb_per_s") * unit::GB / unit::s;
  hardware.memory = fields.need_number("memory_gb") * unit::GB;
  hardware.usable_memory = fields.need_number("usable_memory_gib") * unit::GiB;
  hardware.link_bandwidth = fields.need_number("link_gb_per_s") * unit::GB / unit::s;
  hardware.sms = fields.need_integer("sms");
  hardware.clock_hz = fields.need_number("clock_mhz") * 1e6;
  hardware.l2 = fields.need_number("l2_mib") * unit::MiB;
  hardware.tables_from = fields.text("tables_from").value_or("");
  read_sources(hardware, fields);
  fields.finish();
  validate(hardware, origin);
  return hardware;
}

Hardware hardware_from_toml(const fs::path& path) {
  return hardware_from_table(read_toml(path), fs::absolute(path).parent_path().filename().string(),
                             path.string());
}

void validate(const Hardware& hardware, std::string_view where) {
  const auto positive = [&](double value, const char* key) {
    if (std::isfinite(value) && value > 0) return;
    throw Error(std::string(where) + ": " + key,
                "expected a positive number, found " + json_number(value));
  };
  if (hardware.peak.empty())
    throw Error(std::string(where) + ": peak_tflop_per_s", "names no dtype");
  for (const auto& [dtype, rate] : hardware.peak) {
    positive(rate.in_base_units(), ("peak_tflop_per_s." + std::string(name(dtype))).c_str());
  }
  positive(hardware.memory_bandwidth.in_base_units(), "memory_gb_per_s");
  positive(hardware.memory.in_base_units(), "memory_gb");
  positive(hardware.usable_memory.in_base_units(), "usable_memory_gib");
  positive(hardware.link_bandwidth.in_base_units(), "link_gb_per_s");
  positive(hardware.sms, "sms");
  positive(hardware.clock_hz, "clock_mhz");
  positive(hardware.l2.in_base_units(), "l2_mib");
  // A GPU may hold a few percent more than it is sold with (143 GB in a 141 GB H200), never 10 %.
  if (hardware.usable_memory > hardware.memory * 1.1) {
    throw Error(std::string(where) + ": usable_memory_gib",
                json_number(hardware.usable_memory / unit::GB) + " GB is more than the " +
                    json_number(hardware.memory / unit::GB) + " GB of memory_gb");
  }
}

std::vector<std::string> hardware_names(const fs::path& home) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(home / "bench_data", ignored)) {
    if (fs::exists(entry.path() / file_name)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Hardware load_hardware(const std::string& name_or_path, const fs::path& home) {
  const fs::path path = name_or_path;
  if (path.extension() == ".toml" && fs::exists(path)) return hardware_from_toml(path);
  if (fs::exists(path / file_name)) return hardware_from_toml(path / file_name);
  const auto file_of = [&](const std::string& name) {
    return home / "bench_data" / name / file_name;
  };
  const std::vector<std::string> names = hardware_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return hardware_from_toml(file_of(name_or_path));
  }
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names)
    entries.push_back({name, hardware_from_toml(file_of(name)).aliases});
  return hardware_from_toml(file_of(find_by_name("hardware", name_or_path, entries)));
}

}  // namespace rooflua
