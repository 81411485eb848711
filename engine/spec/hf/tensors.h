#pragma once
// What files of weights beside a config.json hold, from the headers of *.safetensors: names,
// formats and shapes of tensors. Weights themselves are never read; a header may be a file that was
// cut after it.

#include <filesystem>
#include <string>
#include <vector>

#include "spec/model.h"

namespace rooflua::hf {

/// The files that are read of a folder: headers, or the index where there are none. Sorted.
std::vector<std::filesystem::path> weight_files(const std::filesystem::path& folder);

/// Adds to the notes of a model how many bytes its files of weights hold by class and format, and
/// where they hold other weights than the description. Of an index only the sum is known.
/// @throws Error for a header that is none, is longer than 64 MiB, or says what cannot be
void note_weight_files(Model& model, const std::filesystem::path& folder);

}  // namespace rooflua::hf
