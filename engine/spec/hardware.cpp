#include "spec/hardware.h"

#include <algorithm>

#include "base/error.h"
#include "base/fields.h"
#include "base/toml.h"
#include "spec/catalogue.h"
#include "spec/hardware_units.h"
#include "spec/ranges.h"

namespace rooflua {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view file_name = "hardware.toml";

/// A positive number in the unit that its key says.
double figure(const Fields& fields, std::string_view key, std::string_view path) {
  const double value = fields.need_number(key);
  if (!(value > 0)) {
    throw Error(fields.where(key), "expected a number > 0, found " + json_number(value));
  }
  if (const std::string problem = implausible(path, value); !problem.empty()) {
    throw Error(fields.where(key), problem);
  }
  return value;
}

double figure(const Fields& fields, std::string_view key) {
  return figure(fields, key, key);
}

void read_peaks(Hardware& hardware, const Fields& fields) {
  const Fields peaks = fields.need_table("peak_tflop_per_s");
  for (const Json::Member& member : peaks.object().members()) {
    const Dtype dtype = require_dtype(member.key, peaks.where(member.key));
    const std::string path = "peak_tflop_per_s." + std::string(rooflua::name(dtype));
    hardware.peak[dtype] = figure(peaks, member.key, path) * unit::TFLOP / unit::s;
  }
  if (hardware.peak.empty()) throw Error(fields.where("peak_tflop_per_s"), "names no dtype");
  // GPUs before Ampere have no bf16: engines run 16-bit models in fp16 there
  if (const auto half = hardware.peak.find(Dtype::fp16); half != hardware.peak.end()) {
    hardware.peak.try_emplace(Dtype::bf16, half->second);
  }
}

void check_usable_memory(const Hardware& hardware, const Fields& fields) {
  // A GPU may hold a few percent more than it is sold with (143 GB in a 141 GB H200), never 10 %.
  if (hardware.usable_memory <= hardware.memory * 1.1) return;
  throw Error(fields.where("usable_memory_gib"),
              json_number(hardware.usable_memory / unit::GB) + " GB is more than the " +
                  json_number(hardware.memory / unit::GB) + " GB of memory_gb");
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

std::optional<FlopPerSecond> Hardware::stated_peak(Dtype dtype) const {
  auto found = peak.find(dtype);
  const Dtype element = format_of(dtype).fallback_peak;
  const bool expanded = bytes_per_element(element) >= 2;
  if (found == peak.end() && !expanded) found = peak.find(element);
  if (found == peak.end()) return std::nullopt;
  return found->second;
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

Hardware hardware_from_table(const Json& table, const std::string& name, const std::string& origin,
                             const fs::path& home) {
  const Fields fields(table, origin);
  Hardware hardware;
  hardware.name = fields.text("name").value_or(name);
  hardware.origin = origin;
  hardware.aliases = fields.texts("aliases");
  hardware.architecture = fields.need_text("architecture");
  read_peaks(hardware, fields);
  hardware.memory_bandwidth = figure(fields, "memory_gb_per_s") * unit::GB / unit::s;
  hardware.memory = figure(fields, "memory_gb") * unit::GB;
  hardware.usable_memory = figure(fields, "usable_memory_gib") * unit::GiB;
  hardware.link_bandwidth = figure(fields, "link_gb_per_s") * unit::GB / unit::s;
  if (fields.has("network_gb_per_s"))
    hardware.network_bandwidth = figure(fields, "network_gb_per_s") * unit::GB / unit::s;
  if (const auto watts = fields.number("tdp_w")) {
    if (!(*watts > 0 && *watts < 1e5))
      throw Error(fields.where("tdp_w"), "expected watts above 0 and below 100,000");
    hardware.tdp_w = *watts;
  }
  if (const auto gpus = fields.small_integer("domain_gpus")) {
    check_range("hardware.domain_gpus", *gpus, fields.where("domain_gpus"));
    hardware.domain_gpus = *gpus;
  }
  hardware.node_gpus =
      fields.small_integer("node_gpus").value_or(std::min(8, hardware.domain_gpus));
  check_range("hardware.node_gpus", hardware.node_gpus, fields.where("node_gpus"));
  hardware.sms = fields.need_integer("sms");
  check_range("hardware.sms", hardware.sms, fields.where("sms"));
  hardware.clock_hz = figure(fields, "clock_mhz") * 1e6;
  hardware.l2 = figure(fields, "l2_mib") * unit::MiB;
  hardware.tables_from = fields.text("tables_from").value_or("");
  read_sources(hardware, fields);
  fields.finish();
  check_usable_memory(hardware, fields);
  if (!home.empty()) hardware.family = load_family(hardware.architecture, home);
  return hardware;
}

namespace {

Hardware read_hardware(const fs::path& path, const fs::path& home) {
  return hardware_from_table(read_toml(path), fs::absolute(path).parent_path().filename().string(),
                             path.string(), home);
}

}  // namespace

Hardware hardware_from_toml(const fs::path& path) {
  const fs::path data = fs::absolute(path).parent_path().parent_path();
  return read_hardware(path, data.filename() == "bench_data" ? data.parent_path() : fs::path());
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
  if (path.extension() == ".toml" && fs::exists(path)) return read_hardware(path, home);
  if (fs::exists(path / file_name)) return read_hardware(path / file_name, home);
  const auto file_of = [&](const std::string& name) {
    return home / "bench_data" / name / file_name;
  };
  const std::vector<std::string> names = hardware_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return read_hardware(file_of(name_or_path), home);
  }
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names)
    entries.push_back({name, read_hardware(file_of(name), {}).aliases});
  return read_hardware(file_of(find_by_name("hardware", name_or_path, entries)), home);
}

}  // namespace rooflua
