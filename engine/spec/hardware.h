#pragma once
// One GPU: datasheet peaks (dense, no sparsity), bandwidths and capacity, each with a source.
// The files are bench_data/<gpu>/hardware.toml and nowhere else.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/units.h"
#include "spec/dtype.h"
#include "spec/family.h"

namespace rooflua {

struct Hardware {
  std::string name;  // folder name: "h200-sxm"
  std::vector<std::string> aliases;
  std::string origin;                   // the file
  std::string architecture;             // names the family: "hopper", "ampere", "ada", "blackwell"
  std::map<Dtype, FlopPerSecond> peak;  // dense tensor-core peaks
  BytesPerSecond memory_bandwidth;
  Bytes memory;                   // bytes as sold: 141 GB = 141e9
  Bytes usable_memory;            // what the driver reports (GiB-based), for KV capacity
  BytesPerSecond link_bandwidth;  // one direction, to the peers of one node
  std::optional<double> tdp_w;    // watts that the datasheet allows, the whole board
  int domain_gpus = 8;            // that reach each other over the link
  int node_gpus = 0;              // of one node: that one operating system runs; 8, or domain_gpus
  bool peer_copies = true;        // GPUs of a node copy to each other, not through its host's memory
  std::optional<BytesPerSecond> network_bandwidth;  // one direction and GPU, beyond them
  std::optional<BytesPerSecond> host_bandwidth;     // one direction, to the memory of its host
  int sms = 0;                                      // streaming multiprocessors
  double clock_hz = 0;                              // boost clock
  Bytes l2;                                         // last-level cache
  std::string tables_from;                          // borrow utilisation from this GPU ("" = none)
  std::map<std::string, std::string> sources;       // key -> where the figure was published
  Family family;  // constants of kernels that are modelled, and on which GPUs they were fitted

  /// Of a format of scaled blocks it is the peak of an element's format.
  /// @throws Error with the known dtypes if the GPU has no such peak
  FlopPerSecond peak_for(Dtype dtype) const;
  /// As peak_for(); nothing if the GPU has no such peak.
  std::optional<FlopPerSecond> stated_peak(Dtype dtype) const;
  /// The format the tensor cores work in. Weights in a narrow format that the GPU cannot multiply
  /// are expanded to 16 bits on the way (Marlin-like kernels): they save traffic, not arithmetic.
  Dtype computes_in(Dtype dtype) const;
  /// Whether GPUs reach each other no faster than they reach the memory of their host: both go over
  /// one bus. A bus reaches less than it states (hardware.toml: 55.6 of 64 GB/s), hence the factor
  /// 1.2. No bus reaches 100 GB/s: such hosts are joined by NVLink (GH200, GB200, GB300) or share
  /// the memory.
  bool shares_bus() const;
};

/// By folder name or alias (case and punctuation do not matter), or a path to a hardware.toml or
/// its folder; GPUs that are shipped, and those that the user added (added_hardware.h). A lender
/// (tables_from) that does not lie beside the GPU is a shipped one. @throws Error with suggestions
Hardware load_hardware(const std::string& name_or_path, const std::filesystem::path& home);
/// Of a folder bench_data/<gpu>, whose families lie beside it; elsewhere, the default constants.
/// @throws Error at the line of a figure that is not positive, or in another unit than its key says
Hardware hardware_from_toml(const std::filesystem::path& path);
/// From a table with the keys of a hardware.toml; `origin` stands for the file in messages.
/// @param home  where the families are; none: the default constants
Hardware hardware_from_table(const Json& table, const std::string& name, const std::string& origin,
                             const std::filesystem::path& home = {});
/// From a script's table, which has the keys of a hardware.toml or those that scripts see.
/// @param base  whose figures stand for those that are left out; null: none
Hardware hardware_from_script(const Json& table, const std::string& origin, const Hardware* base,
                              const std::filesystem::path& home);
/// Names of the folders of bench_data that hold a hardware.toml, sorted.
std::vector<std::string> hardware_names(const std::filesystem::path& home);
/// Names of all GPUs: those that are shipped, then those that were added and have no shipped name.
std::vector<std::string> all_hardware_names(const std::filesystem::path& home);
/// The hardware.toml of an added GPU by its name or an alias, as load_hardware() understands names;
/// nothing for a name of a shipped GPU, and where a hardware.toml cannot be read.
std::optional<std::filesystem::path> added_hardware_named(const std::string& name,
                                                          const std::filesystem::path& home);

}  // namespace rooflua
