#pragma once
// What a folder of published tables offers: file names, versions, first lines.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/tables/table_file.h"

namespace rooflua {

/// "h100_sxm_gemm_vllm0.24.0": h100_sxm, gemm, vllm, 0.24.0. A library has no engine.
struct PublishedName {
  std::string gpu, table, engine, version;
};
/// Nothing if no published table is called like that.
std::optional<PublishedName> published_name(const std::filesystem::path& path);

struct PublishedChoice {
  /// Of the engine that has it, this version; of other engines the newest. Empty: the newest.
  std::string engine_version;
  bool all_rows = false;  // also files and rows that are known to be wrong
};

struct FileLeftOut {
  std::filesystem::path path;
  std::string reason;
};

struct PublishedFolder {
  std::vector<TableFile> tables;      // by name
  std::vector<FileLeftOut> left_out;  // by path
};

/// The tables of one GPU.
/// @throws Error if `gpu` is empty and the folder has several GPUs, if the folder has Parquet files
/// alone, or if no file has the version
PublishedFolder published_folder(const std::filesystem::path& folder, const std::string& gpu,
                                 const PublishedChoice& choice = {});

/// The GPUs of a folder, as its files spell them.
std::vector<std::string> published_gpus(const std::filesystem::path& folder);

/// "H100_SXM" -> h100, sxm
std::vector<std::string> gpu_words(std::string_view text);
/// "H100", "h100-sxm" and "h100_sxm" are the same GPU, "h20" and "h200" are not.
bool same_gpu(std::string_view a, std::string_view b);

}  // namespace rooflua
