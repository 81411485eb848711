#pragma once
// Tables of layout aic. Scripts read them (scripts/lib/rooflua/tables), and this is what they
// offer.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cost/tables/kernel_table.h"
#include "cost/tables/table_file.h"

namespace rooflua {

struct FileLeftOut {
  std::filesystem::path path;
  std::string reason;
};

struct PublishedFolder {
  std::vector<TableFile> tables;      // by name
  std::vector<FileLeftOut> left_out;  // files that no table is made from, by path
};

/// What reads folders of published tables.
struct PublishedTables {
  /// folder -> the GPUs in it, as its files spell them; none if no file is called like a published
  /// table.
  std::function<std::vector<std::string>(const std::filesystem::path& folder)> gpus;
  /// folder, GPU -> its tables. Throws Error if the GPU is empty and the folder has several, or if
  /// the folder has Parquet files alone.
  std::function<PublishedFolder(const std::filesystem::path& folder, const std::string& gpu)> list;
  /// A file of list() -> its rows. Throws Error naming file, line and column.
  std::function<KernelTable(const TableFile& file)> read;
};

/// Says what reads published tables from now on, unless something does already.
void set_published_tables(PublishedTables reader);
/// @throws Error if nothing reads them
const PublishedTables& published_tables();

}  // namespace rooflua
