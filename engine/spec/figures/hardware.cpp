#include "spec/figures/hardware.h"

#include <cstdio>
#include <filesystem>

#include "spec/figures/rows.h"

namespace rooflua {

namespace {

constexpr double MiB = 1024.0 * 1024.0, GiB = 1024.0 * MiB;
using Units = std::array<FigureUnit, 3>;
constexpr FigureUnit bytes{"bytes", 1}, bytes_per_s{"bytes/s", 1}, hz{"Hz", 1}, flops{"flop/s", 1};
constexpr FigureUnit GB{"GB", 1e9}, GB_per_s{"GB/s", 1e9}, tera{"TFLOP/s", 1e12}, mhz{"MHz", 1e6};
constexpr Units bandwidths{{{"TB/s", 1e12}, GB_per_s, bytes_per_s}};
constexpr Units sizes{{GB, {"TB", 1e12}, bytes}};
constexpr Units speeds{{tera, {"PFLOP/s", 1e15}, flops}};
constexpr Units clocks{{mhz, {"GHz", 1e9}, hz}};
constexpr Units caches{{{"MiB", MiB}, {"GiB", GiB}, bytes}};

template <class T>
double plain(const T& value) {
  if constexpr (requires { value.in_base_units(); }) {
    return value.in_base_units();
  } else if constexpr (requires { value.has_value(); }) {
    return value ? plain(*value) : 0;
  } else {
    return value;
  }
}

/// An entry for a member of Hardware.
template <auto member>
constexpr HardwareFigure of(HardwareFigure figure) {
  figure.get = [](const Hardware& hardware) { return plain(hardware.*member); };
  figure.set = [](Hardware& hardware, double value) {
    using Value = detail::ValueOf<member>;
    if constexpr (requires { typename Value::value_type; }) {
      hardware.*member = typename Value::value_type(value);
    } else {
      hardware.*member = Value(value);
    }
  };
  return figure;
}

constexpr HardwareFigure quantities[] = {
    of<&Hardware::memory_bandwidth>({"memory_gb_per_s", GB_per_s, "memory_bytes_per_s", bytes_per_s,
                                     2e10, 1e15, bandwidths, "of the memory"}),
    of<&Hardware::link_bandwidth>({"link_gb_per_s", GB_per_s, "link_bytes_per_s", bytes_per_s, 1e9,
                                   1e14, bandwidths, "one direction, to the peers of one node"}),
    of<&Hardware::network_bandwidth>({.key = "network_gb_per_s",
                                      .unit = GB_per_s,
                                      .name = "network_bytes_per_s",
                                      .scripts = bytes_per_s,
                                      .least = 1e8,
                                      .most = 1e13,
                                      .others = bandwidths,
                                      .doc = "one direction and GPU, beyond them; 0 = not stated",
                                      .needed = false}),
    of<&Hardware::host_bandwidth>({.key = "host_gb_per_s",
                                   .unit = GB_per_s,
                                   .name = "host_bytes_per_s",
                                   .scripts = bytes_per_s,
                                   .least = 1e8,
                                   .most = 1e14,
                                   .others = bandwidths,
                                   .doc = "one direction, to the host's memory; 0 = not stated",
                                   .needed = false}),
    of<&Hardware::memory>({"memory_gb", GB, "memory_bytes", bytes, 1e9, 1e15, sizes, "as sold"}),
    of<&Hardware::usable_memory>({"usable_memory_gib",
                                  {"GiB", GiB},
                                  "usable_memory_bytes",
                                  bytes,
                                  9e8,
                                  1e15,
                                  sizes,
                                  "as the driver reports"}),
    of<&Hardware::clock_hz>({"clock_mhz", mhz, "clock_hz", hz, 1e8, 1e10, clocks, "boost clock"}),
    of<&Hardware::l2>({.key = "l2_mib",
                       .unit = {"MiB", MiB},
                       .name = "l2_bytes",
                       .scripts = bytes,
                       .least = MiB / 2,
                       .most = 1e4 * MiB,
                       .others = caches,
                       .doc = "last-level cache; no time depends on it; 0 = not stated",
                       .needed = false,
                       .acts = false}),
    {"peak_tflop_per_s.fp32", tera, "peak_flop_per_s.fp32", flops, 1e11, 1e18, speeds},
    {"peak_tflop_per_s", tera, "peak_flop_per_s", flops, 3e12, 1e18, speeds},
};

std::string text(double value) {
  std::array<char, 32> out;
  std::snprintf(out.data(), out.size(), "%.6g", value);
  return out.data();
}

Json peaks(const Hardware& hardware) {
  Json out = Json::object();
  for (const auto& [dtype, peak] : hardware.peak) out[name(dtype)] = peak.in_base_units();
  return out;
}
Json formats(const Hardware& hardware) {
  Json out = Json::object();
  for (const NumberFormat& format : number_formats())
    out[format.name] = name(hardware.computes_in(format.dtype));
  return out;
}
Json lender(const Hardware& hardware) {
  return std::filesystem::path(hardware.tables_from).filename().string();
}
Json sources(const Hardware& hardware) {
  Json out = Json::object();
  for (const auto& [key, source] : hardware.sources) out[key] = source;
  return out;
}
Json constants(const Hardware& hardware) {
  Json out = Json::object();
  for (const KernelConstant& each : kernel_constants())
    out[each.name] = hardware.family.constants.*each.value;
  return out;
}
Json note(const Hardware& hardware) {
  return fit_note(hardware.family);
}
Json fitted_on(const Hardware& hardware) {
  return hardware.family.lender;
}
Json watts(const Hardware& hardware) {
  return hardware.tdp_w.value_or(0);
}

using Stated::elsewhere, Stated::needed, Stated::open;
constexpr auto rows = rows_of<Hardware>(
    figure<&Hardware::name>("name", elsewhere, "as its folder is called"),
    figure<&Hardware::origin>("source", Stated::computed, "file that it was read from"),
    figure<&Hardware::architecture>("architecture", elsewhere, "names the family"),
    computed<Hardware, peaks>("peak_flop_per_s", "table<string, number>",
                              "dense peaks by dtype: bf16, fp8, ..."),
    computed<Hardware, formats>("computes_in", "table<string, string>",
                                "by dtype, the format that the tensor cores multiply it in"),
    figure<&Hardware::domain_gpus>("domain_gpus", "GPUs", 1, 1e5, open,
                                   "GPUs that reach each other over the link"),
    figure<&Hardware::node_gpus>("node_gpus", "GPUs", 1, 1e5, open,
                                 "GPUs of one node: that one operating system runs"),
    figure<&Hardware::peer_copies>("peer_copies", open,
                                   "GPUs of a node copy to each other, not through its host's "
                                   "memory"),
    computed<Hardware, watts>("tdp_w", "number", "watts that the datasheet allows; 0 = not stated"),
    figure<&Hardware::sms>("sms", "multiprocessors", 1, 1e4, needed, "streaming multiprocessors"),
    computed<Hardware, lender>("tables_from", "string",
                               "GPU whose tables are borrowed; \"\" = none"),
    computed<Hardware, sources>("sources", "table<string, string>",
                                "where each figure was published"),
    computed<Hardware, constants>("constants", "table<string, number>",
                                  "of modelled kernels and collectives, by name: help "
                                  "\"mfu.model\""),
    computed<Hardware, fitted_on>("fitted_on", "string",
                                  "family and GPUs that they were fitted on; \"\" = unknown"),
    computed<Hardware, &Hardware::shares_bus>(
        "shares_bus", "boolean", "GPUs reach each other and their host's memory over one bus"),
    computed<Hardware, note>("fit_note", "string",
                             "says that these were fitted on another family; \"\" = on its own"));

}  // namespace

std::span<const HardwareFigure> hardware_figures() {
  return quantities;
}

std::string implausible(const HardwareFigure& figure, FigureUnit given, double value) {
  const double base = value * given.base;
  if (base >= figure.least && base <= figure.most) return "";
  std::string out = "found " + text(value) + " " + std::string(given.name) + ", and GPUs have " +
                    text(figure.least / given.base) + " to " + text(figure.most / given.base);
  for (const FigureUnit& meant : figure.others) {
    const double would_be = value * meant.base;
    if (would_be < figure.least || would_be > figure.most) continue;
    return out + "; " + text(value) + " " + std::string(meant.name) + " are " +
           text(would_be / given.base);
  }
  return out;
}

template <>
const FigureTable& figures<Hardware>() {
  static const auto table = table_of<Hardware>("Hardware", "A GPU.", rows);
  return table;
}

}  // namespace rooflua
