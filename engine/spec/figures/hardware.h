#pragma once
// The figures of a GPU that have a unit. A hardware.toml states them in the units of datasheets;
// scripts in bytes, flop, Hz and seconds, under other keys. What lies far outside of every GPU is
// in another unit than its key says: 3.35 for 3,350 GB/s, 989 for 989 TFLOP/s in flop/s. The limits
// let thought experiments pass.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "spec/figures/figure.h"
#include "spec/hardware.h"

namespace rooflua {

struct FigureUnit {
  std::string_view name;
  double base;  // in bytes, flop, Hz, per second
};

struct HardwareFigure {
  std::string_view key;  // in a hardware.toml: "memory_gb_per_s"
  FigureUnit unit;
  std::string_view name;  // in scripts: "memory_bytes_per_s"
  FigureUnit scripts;
  double least, most;                // in base units
  std::array<FigureUnit, 3> others;  // in which it is given elsewhere
  std::string_view doc = {};
  double (*get)(const Hardware&) = nullptr;  // 0: not stated. None: peaks have a table by dtype
  void (*set)(Hardware&, double) = nullptr;
  bool needed = true;
  bool acts = true;  // false: no time depends on it
};

/// In the order of messages. A peak's entry is "peak_tflop_per_s.fp32", else "peak_tflop_per_s".
std::span<const HardwareFigure> hardware_figures();

/// What is wrong with a value, and how it would be written: "" if nothing is.
/// @param given  the unit of the value
std::string implausible(const HardwareFigure& figure, FigureUnit given, double value);

template <>
const FigureTable& figures<Hardware>();

}  // namespace rooflua
