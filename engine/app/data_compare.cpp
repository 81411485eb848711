// rooflua data compare: the ratios of latencies between two sets of tables.

#include <algorithm>
#include <cstdio>

#include "app/commands.h"
#include "base/error.h"
#include "cost/quality/compare.h"
#include "cost/quality/verify.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

namespace fs = std::filesystem;

/// The datasheet in a folder of tables, else the one of the GPU that it is named after, else none.
std::optional<Hardware> hardware_of(const fs::path& folder, std::string gpu, const fs::path& home) {
  if (fs::is_regular_file(folder / "hardware.toml"))
    return hardware_from_toml(folder / "hardware.toml");
  std::replace(gpu.begin(), gpu.end(), '_', '-');
  try {
    return load_hardware(gpu, home);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The engines whose rows stand in for those of others, as scripts/engines declares them.
Lenders lenders_of(const fs::path& home) {
  script::Vm vm({.home = home});
  const Json list = vm.call("rooflua.engines.catalogue", "lenders", {});
  Lenders lenders;
  for (std::size_t i = 0; i + 1 < list.items().size(); i += 2)
    lenders.push_back({list.items()[i].text(), list.items()[i + 1].text()});
  return lenders;
}

/// Opens the tables of a GPU by its name, or a folder of any layout.
std::shared_ptr<const MfuDatabase> open(const std::string& path, const DataArguments& arguments,
                                        const fs::path& home) {
  DatabaseOptions options;
  options.lenders = lenders_of(home);
  if (!fs::is_directory(path)) {
    options.hardware = load_hardware(path, home);
    return MfuDatabase::open(options);
  }
  options.path = path;
  const auto found = detect_layout(path);
  if (!found) throw Error(path, "holds no kernel tables of a layout that is known");
  options.layout = *found;
  if (!arguments.layout.empty() && *found != Layout::rooflua) {
    if (const auto layout = parse_layout(arguments.layout)) options.layout = *layout;
  }
  const std::vector<std::string> gpus = gpus_in(path, options.layout);
  if (gpus.size() == 1) {
    options.gpu = gpus[0];
  } else if (std::find(gpus.begin(), gpus.end(), arguments.gpu) != gpus.end()) {
    options.gpu = arguments.gpu;
  } else {
    throw Error("--gpu", arguments.gpu.empty() ? path + " holds tables of several GPUs: say which"
                                               : unknown_name("GPU", arguments.gpu, gpus));
  }
  options.hardware = hardware_of(path, options.gpu.empty() ? arguments.gpu : options.gpu, home);
  return MfuDatabase::open(options);
}

void print(const std::string& answers, const std::string& reference,
           const std::vector<Agreement>& found) {
  if (found.empty()) {
    std::printf("%s has no rows to hold %s against\n", reference.c_str(), answers.c_str());
    return;
  }
  std::printf("latency that %s answers, over the rows of %s\n%s", answers.c_str(),
              reference.c_str(), text(found).c_str());
}

}  // namespace

int data_compare(const DataArguments& arguments, const fs::path& home) {
  const auto a = open(arguments.path, arguments, home);
  const auto b = open(arguments.reference, arguments, home);
  print(arguments.path, arguments.reference, compare(*a, *b));
  std::printf("\n");
  print(arguments.reference, arguments.path, compare(*b, *a));
  return 0;
}

}  // namespace rooflua::app
