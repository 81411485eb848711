#include <cstdio>
#include <memory>

#include "app/commands.h"
#include "base/error.h"
#include "cost/database/mfu_database.h"
#include "cost/quality/verify.h"
#include "cost/tables/importers.h"
#include "cost/tables/published.h"
#include "spec/added_hardware.h"
#include "spec/hardware.h"

namespace rooflua::app {

Layout layout_of(const DataArguments& arguments) {
  if (!arguments.layout.empty()) {
    if (const auto layout = parse_layout(arguments.layout)) return *layout;
    const std::vector<std::string> known{"rooflua", "infersim", "blis", "aic"};
    throw Error("--layout", unknown_name("layout", arguments.layout, known));
  }
  if (const auto found = detect_layout(arguments.path)) return *found;
  throw Error(arguments.path,
              "holds no kernel tables of a layout that is known; say which with --layout");
}

namespace {

/// The shipped hardware for a folder's name of a GPU, if there is one. Its peaks are needed to
/// check an MFU.
std::optional<Hardware> hardware_named(const std::string& gpu, const std::filesystem::path& home) {
  if (gpu.empty()) return std::nullopt;
  try {
    return load_hardware(gpu, home);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void print_hardware(const Hardware& gpu) {
  std::printf("%s (%s)\n", gpu.name.c_str(), gpu.architecture.c_str());
  for (const auto& [dtype, peak] : gpu.peak) {
    std::printf("  peak %-5s %8.1f TFLOP/s\n", std::string(name(dtype)).c_str(),
                peak * unit::s / unit::TFLOP);
  }
  std::printf("  memory     %8.2f TB/s, %.0f GB\n", gpu.memory_bandwidth * unit::s / unit::TB,
              gpu.memory / unit::GB);
  std::printf("  link       %8.0f GB/s one way\n", gpu.link_bandwidth * unit::s / unit::GB);
  std::printf("  %d SMs at %.2f GHz", gpu.sms, gpu.clock_hz / 1e9);
  if (gpu.l2 > Bytes()) std::printf(", L2 %.0f MB", gpu.l2 / unit::MB);
  std::printf("\n");
  if (!gpu.tables_from.empty()) std::printf("  borrows tables from %s\n", gpu.tables_from.c_str());
  for (const auto& [key, source] : gpu.sources)
    std::printf("  source of %s: %s\n", key.c_str(), source.c_str());
}

void print_tables(const std::vector<TableFile>& files) {
  if (files.empty()) std::printf("  no tables: priced by the modelled kernel\n");
  for (const TableFile& file : files) {
    const KernelTable table = read_table(file);
    if (table.rows.empty() && file.published) continue;  // a format without rows
    std::printf("  %-44s %6zu rows\n", file.name.c_str(), table.rows.size());
  }
}

}  // namespace

int data_list(const std::filesystem::path& home) {
  for (const std::string& gpu : all_hardware_names(home)) {
    const Hardware hardware = load_hardware(gpu, home);
    const std::filesystem::path folder = std::filesystem::path(hardware.origin).parent_path();
    const auto files = list_tables(folder, Layout::rooflua, gpu);
    const bool added = added_hardware_file(gpu) == std::filesystem::path(hardware.origin);
    const std::string what =
        added ? std::to_string(files.size()) + " tables, added in " + folder.parent_path().string()
        : !files.empty()                ? std::to_string(files.size()) + " tables"
        : !hardware.tables_from.empty() ? "borrows from " + hardware.tables_from
                                        : "datasheet only";
    std::printf("%-18s %s\n", gpu.c_str(), what.c_str());
  }
  return 0;
}

int data_describe(const DataArguments& arguments, const std::filesystem::path& home) {
  if (!std::filesystem::exists(arguments.path)) {
    const Hardware hardware = load_hardware(arguments.path, home);
    print_hardware(hardware);
    print_tables(list_tables(std::filesystem::path(hardware.origin).parent_path(), Layout::rooflua,
                             hardware.name));
    return 0;
  }
  const Layout layout = layout_of(arguments);
  const std::vector<std::string> gpus =
      arguments.gpu.empty() ? gpus_in(arguments.path, layout) : std::vector{arguments.gpu};
  for (const std::string& gpu : gpus) {
    std::printf("%s (layout %s)\n", gpu.empty() ? arguments.path.c_str() : gpu.c_str(),
                std::string(name(layout)).c_str());
    print_tables(list_tables(arguments.path, layout, gpu));
    if (layout != Layout::aic) continue;
    for (const FileLeftOut& file : published_tables().list(arguments.path, gpu).left_out)
      std::printf("  not read: %s: %s\n", file.path.filename().c_str(), file.reason.c_str());
  }
  return 0;
}

int data_verify(const DataArguments& arguments, const std::filesystem::path& home) {
  const auto report = [&] {
    if (arguments.layout.empty() && arguments.gpu.empty()) return verify(arguments.path, home);
    DatabaseOptions options;
    options.path = arguments.path;
    options.layout = layout_of(arguments);
    options.gpu = arguments.gpu;
    options.hardware = hardware_named(arguments.gpu, home);
    return verify(*MfuDatabase::open(options));
  }();
  std::fputs(report.text().c_str(), stdout);
  return report.errors() == 0 ? 0 : 1;
}

}  // namespace rooflua::app
