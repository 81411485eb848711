#pragma once
// The MFU database: measured kernel tables of one GPU, a lookup strategy over them, and the
// modelled kernel where no table has the op. Latency is the measurement; MFU is derived from it
// with the table's FLOP convention and the GPU's peak (docs/MODELS.md).

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/estimate.h"
#include "cost/kernel_table.h"
#include "spec/hardware.h"

namespace rooflua {

enum class Layout { rooflua, infersim, blis, aic };

struct DatabaseOptions {
  std::optional<Hardware> hardware;          // peaks; needed for MFU and the modelled kernel
  std::filesystem::path path;                // folder of tables (empty: bench_data/<gpu> of `hardware`)
  Layout layout = Layout::rooflua;
  std::string gpu;                           // sub-folder (infersim, blis) or file prefix (aic)
  std::string lookup = "latency_linear";     // a named strategy of docs/MODELS.md 2
};

class MfuDatabase {
 public:
  /// Cheap: tables load when first asked for. @throws Error if the path is not there
  static std::shared_ptr<const MfuDatabase> open(const DatabaseOptions& options);
  virtual ~MfuDatabase() = default;

  /// The answer of the lookup strategy. A warm call costs under 100 ns. The reference is valid until the next call.
  /// @throws Error where the strategy says so (an absent file, a dtype without rows)
  virtual const Estimate& estimate(const Query& query) const = 0;

  /// Same tables, another strategy. @throws Error with the known names
  virtual std::shared_ptr<const MfuDatabase> with_lookup(const std::string& lookup) const = 0;
  virtual const std::string& lookup() const = 0;
  virtual const std::optional<Hardware>& hardware() const = 0;
  /// Loads everything and lists it.
  virtual const std::vector<KernelTable>& tables() const = 0;
};

std::vector<std::string> lookup_names();

}  // namespace rooflua
