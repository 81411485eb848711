#include "spec/hardware_units.h"

#include <array>
#include <cstdio>

namespace rooflua {

namespace {

struct Unit {
  const char* name;
  double base;  // bytes, flop, Hz, per second
};

/// One figure: its key and unit in a hardware.toml and in the library, what is plausible, and the
/// units it is given in elsewhere.
struct Figure {
  std::string_view file_key;
  Unit file_unit;
  std::string_view key, unit;
  double least, most;  // in base units
  std::array<Unit, 3> units;
};

constexpr double MiB = 1024.0 * 1024.0, GiB = 1024.0 * MiB;
constexpr std::array<Unit, 3> bandwidths{{{"TB/s", 1e12}, {"GB/s", 1e9}, {"bytes/s", 1}}};
constexpr std::array<Unit, 3> sizes{{{"GB", 1e9}, {"TB", 1e12}, {"bytes", 1}}};
constexpr std::array<Unit, 3> speeds{{{"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"flop/s", 1}}};
constexpr std::array<Unit, 3> clocks{{{"MHz", 1e6}, {"GHz", 1e9}, {"Hz", 1}}};
constexpr std::array<Unit, 3> caches{{{"MiB", MiB}, {"GiB", GiB}, {"bytes", 1}}};

constexpr Unit GB_per_s{"GB/s", 1e9}, GB{"GB", 1e9};

const std::array<Figure, 9> figures{{
    {"memory_gb_per_s", GB_per_s, "memory_bytes_per_s", "bytes/s", 2e10, 1e15, bandwidths},
    {"link_gb_per_s", GB_per_s, "link_bytes_per_s", "bytes/s", 1e9, 1e14, bandwidths},
    {"network_gb_per_s", GB_per_s, "network_bytes_per_s", "bytes/s", 1e8, 1e13, bandwidths},
    {"memory_gb", GB, "memory_bytes", "bytes", 1e9, 1e15, sizes},
    {"usable_memory_gib", {"GiB", GiB}, "usable_memory_bytes", "bytes", 9e8, 1e15, sizes},
    {"clock_mhz", {"MHz", 1e6}, "clock_hz", "Hz", 1e8, 1e10, clocks},
    {"l2_mib", {"MiB", MiB}, "l2_bytes", "bytes", MiB / 2, 1e4 * MiB, caches},
    {"peak_tflop_per_s.fp32",
     {"TFLOP/s", 1e12},
     "peak_flop_per_s.fp32",
     "flop/s",
     1e11,
     1e18,
     speeds},
    {"peak_tflop_per_s", {"TFLOP/s", 1e12}, "peak_flop_per_s", "flop/s", 3e12, 1e18, speeds},
}};

std::string text(double value) {
  std::array<char, 32> out;
  std::snprintf(out.data(), out.size(), "%.6g", value);
  return out.data();
}

std::string complaint(const Figure& figure, Unit given, double value) {
  const double base = value * given.base;
  if (base >= figure.least && base <= figure.most) return "";
  std::string out = "found " + text(value) + " " + given.name + ", and GPUs have " +
                    text(figure.least / given.base) + " to " + text(figure.most / given.base);
  for (const Unit& meant : figure.units) {
    const double would_be = value * meant.base;
    if (would_be < figure.least || would_be > figure.most) continue;
    return out + "; " + text(value) + " " + meant.name + " are " + text(would_be / given.base);
  }
  return out;
}

}  // namespace

std::string implausible(std::string_view key, double value) {
  const auto names = [key](std::string_view name) {
    return key == name || (key.starts_with(name) && key[name.size()] == '.');
  };
  for (const Figure& figure : figures) {
    if (names(figure.file_key)) return complaint(figure, figure.file_unit, value);
    if (names(figure.key)) return complaint(figure, {figure.unit.data(), 1}, value);
  }
  return "";
}

std::vector<FigureRange> plausible_ranges() {
  std::vector<FigureRange> out;
  for (const Figure& figure : figures) {
    const Unit& unit = figure.file_unit;
    out.push_back({std::string(figure.file_key), unit.name, figure.least / unit.base,
                   figure.most / unit.base});
  }
  return out;
}

}  // namespace rooflua
