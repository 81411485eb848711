// A hardware.toml, and the same as a script's table.

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "spec/figures/hardware.h"

namespace rooflua {

namespace fs = std::filesystem;

namespace {

/// A positive number in the unit that its key says.
double value_of(const HardwareFigure& figure, FigureUnit unit, const Fields& fields,
                std::string_view key) {
  const double value = fields.need_number(key);
  if (!(value > 0))
    throw Error(fields.where(key), "expected a number > 0, found " + json_number(value));
  if (const std::string problem = implausible(figure, unit, value); !problem.empty())
    throw Error(fields.where(key), problem);
  return value * unit.base;
}

const HardwareFigure& peak_figure(Dtype dtype) {
  const auto all = hardware_figures();
  return dtype == Dtype::fp32 ? all[all.size() - 2] : all.back();
}

/// The peaks of the table at `key`, which is in that unit.
void read_peaks(Hardware& hardware, const Fields& fields, std::string_view key, bool scripts) {
  const Fields peaks = fields.need_table(key);
  for (const Json::Member& member : peaks.object().members()) {
    const Dtype dtype = require_dtype(member.key, peaks.where(member.key));
    const HardwareFigure& figure = peak_figure(dtype);
    const FigureUnit unit = scripts ? figure.scripts : figure.unit;
    hardware.peak[dtype] = value_of(figure, unit, peaks, member.key) * unit::flop / unit::s;
  }
  if (hardware.peak.empty()) throw Error(fields.where(key), "names no dtype");
}

[[noreturn]] void needs(const Fields& fields, std::string_view key) {
  throw Error(fields.where(""), "needs '" + std::string(key) +
                                    "' (or from = \"h200-sxm\", to start from a shipped GPU)");
}

/// A misspelt key of a script is reported before what is missing because of it.
void refuse_unknown(const Fields& fields) {
  for (const char* key : {"from", "aliases", "tdp_w", "tables_from", "sources"}) fields.allow(key);
  for (const FigureRow& each : figures<Hardware>().rows)
    if (each.stated != Stated::computed) fields.allow(each.name);
  for (const HardwareFigure& each : hardware_figures()) {
    if (each.name.find('.') != std::string_view::npos) continue;
    fields.allow(each.name);
    fields.allow(each.key);
  }
  fields.finish();
}

/// Names all needed keys of a file at once if more than one is missing.
void refuse_incomplete(const Fields& fields) {
  std::vector<std::string> missing;
  if (!fields.has("architecture")) missing.emplace_back("architecture");
  for (const HardwareFigure& each : hardware_figures()) {
    const bool derived = each.name == "usable_memory_bytes";
    if (each.needed && !derived && each.set != nullptr && !fields.has(each.key) &&
        !fields.has(each.name))
      missing.emplace_back(each.key);
  }
  const HardwareFigure& peaks = peak_figure(Dtype::bf16);
  if (!fields.has(peaks.key) && !fields.has(peaks.name)) missing.emplace_back(peaks.key);
  if (missing.size() > 1)
    throw Error(fields.where(""), "these keys are missing: " + joined(missing, ", ") +
                                      " (docs/DATA.md, \"Adding a GPU\")");
}

void read_peaks(Hardware& hardware, const Fields& fields, const Hardware* base, bool is_file) {
  const HardwareFigure& figure = peak_figure(Dtype::bf16);
  if (base != nullptr) hardware.peak = base->peak;
  if (is_file || fields.has(figure.key)) read_peaks(hardware, fields, figure.key, false);
  if (fields.has(figure.name)) read_peaks(hardware, fields, figure.name, true);
  if (hardware.peak.empty()) needs(fields, figure.name);
  // GPUs before Ampere have no bf16: engines run 16-bit models in fp16 there
  if (const auto half = hardware.peak.find(Dtype::fp16); half != hardware.peak.end())
    hardware.peak.try_emplace(Dtype::bf16, half->second);
}

/// A figure under the key of files or that of scripts; else that of the base, if there is one.
void read_quantity(Hardware& hardware, const HardwareFigure& figure, const Fields& fields,
                   const Hardware* base, bool is_file) {
  if (figure.set == nullptr) return;
  const bool in_file_unit = fields.has(figure.key), plain = fields.has(figure.name);
  const std::string_view key = in_file_unit ? figure.key : figure.name;
  if (in_file_unit && plain)
    throw Error(fields.where(figure.name), "says the same as " + std::string(figure.key));
  if (base != nullptr && !figure.acts && (in_file_unit || plain))
    throw Error(fields.where(key), "has no effect: no time depends on the size of the L2 cache");
  if (!figure.needed && (in_file_unit || plain) && fields.number(key) == 0.0) return;
  if (in_file_unit || plain) {
    const FigureUnit unit = in_file_unit ? figure.unit : figure.scripts;
    figure.set(hardware, value_of(figure, unit, fields, key));
  } else if (base != nullptr) {
    if (figure.get(*base) > 0) figure.set(hardware, figure.get(*base));
  } else if (is_file && figure.needed) {
    fields.need_number(figure.key);
  }
}

/// Usable memory that is not stated: the same part of other memory as in the base.
Bytes usable_memory(const Hardware& hardware, const Hardware* base) {
  if (base == nullptr) return hardware.memory;
  return base->usable_memory * hardware.memory.in_base_units() / base->memory.in_base_units();
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

namespace {

/// @param is_file  in the words of a hardware.toml, which leaves nothing out
Hardware read(const Fields& fields, Hardware hardware, const Hardware* base, bool is_file,
              const fs::path& home) {
  if (is_file) refuse_incomplete(fields);
  hardware.name = fields.text("name").value_or(hardware.name);
  hardware.aliases = fields.texts("aliases");
  if (is_file) hardware.architecture = fields.need_text("architecture");
  hardware.architecture = fields.text("architecture").value_or(hardware.architecture);
  for (const HardwareFigure& each : hardware_figures()) {
    read_quantity(hardware, each, fields, base, is_file);
    const bool derived = each.name == "usable_memory_bytes";
    const bool stated = each.get == nullptr || each.get(hardware) > 0;
    if (!stated && each.needed && !derived) needs(fields, each.name);
  }
  read_peaks(hardware, fields, base, is_file);
  const bool states_usable = fields.has("usable_memory_gib") || fields.has("usable_memory_bytes");
  if (!states_usable) hardware.usable_memory = usable_memory(hardware, base);
  if (const auto watts = fields.number("tdp_w")) {
    if (!(*watts > 0 && *watts < 1e5))
      throw Error(fields.where("tdp_w"), "expected watts above 0 and below 100,000");
    hardware.tdp_w = *watts;
  }
  read_figures(fields, hardware, base != nullptr);
  if (hardware.node_gpus == 0) hardware.node_gpus = std::min(8, hardware.domain_gpus);
  hardware.tables_from = fields.text("tables_from").value_or(hardware.tables_from);
  read_sources(hardware, fields);
  fields.finish();
  check_usable_memory(hardware, fields);
  if (!home.empty()) hardware.family = load_family(hardware.architecture, home);
  return hardware;
}

}  // namespace

Hardware hardware_from_table(const Json& table, const std::string& name, const std::string& origin,
                             const fs::path& home) {
  Hardware hardware;
  hardware.name = name;
  hardware.origin = origin;
  return read(Fields(table, origin), std::move(hardware), nullptr, true, home);
}

Hardware hardware_from_script(const Json& table, const std::string& origin, const Hardware* base,
                              const fs::path& home) {
  Hardware hardware;
  hardware.name = base != nullptr ? base->name + "+" : "hardware";
  hardware.origin = origin;
  hardware.architecture = base != nullptr ? base->architecture : "unknown";
  if (base != nullptr) {
    hardware.tables_from = base->name;
    hardware.domain_gpus = base->domain_gpus;
    hardware.node_gpus = base->node_gpus;
    hardware.peer_copies = base->peer_copies;
    hardware.sms = base->sms;
  }
  const Fields fields(table, "", "hardware");
  refuse_unknown(fields);
  return read(fields, std::move(hardware), base, base == nullptr && fields.has("peak_tflop_per_s"),
              home);
}

}  // namespace rooflua
