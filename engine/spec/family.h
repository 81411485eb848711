#pragma once
// What was fitted on the GPUs of one family: bench_data/families/<architecture>.toml.
//
//     title = "Hopper"                      title = "Ampere"
//     fitted_on = ["H100", "H200"]          constants_from = "hopper"
//     [fit]                                 [fit]
//     method = "..."                        errors = "..."
//     [constants]
//     gemm_math = 0.85                      A family that takes its constants from another one may
//     [sources]                             state some of its own in the same way.
//     gemm_math = "..."

#include <filesystem>
#include <map>
#include <string>

#include "spec/kernel_constants.h"

namespace rooflua {

struct Family {
  std::string title;      // "Hopper"
  std::string fitted_on;  // "H100, H200"; "" = no constant was fitted on GPUs of this family
  std::string lender;     // "Hopper (H100, H200)": where its constants were fitted, "" = unknown
  KernelConstants constants;
  std::map<std::string, std::string> sources;  // of each constant, by name
};

/// The family of an architecture; one without a file takes Hopper's constants over. Without any
/// file of families in `home`, the defaults of KernelConstants and no texts.
/// @throws Error with file and line for a constant that is unknown, outside its range, without a
///         value or without a source
Family load_family(const std::string& architecture, const std::filesystem::path& home);

/// "modelled kernels: constants fitted on Hopper (H100, H200), none on Ampere"; "" for a family
/// with constants of its own.
std::string fit_note(const Family& family);

}  // namespace rooflua
