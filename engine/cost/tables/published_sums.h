#pragma once
// Rows of ours that are made from several published rows. Private to the importers.

#include <cstddef>
#include <filesystem>
#include <vector>

#include "cost/tables/kernel_table.h"

namespace rooflua {

class RowFates;

/// Rows of one shape that consist of parts: the kernels of a layer, or the rows of two files. The
/// latency is the sum of the medians of the parts; of an even number the upper one is the median.
/// With one part the latencies of one shape and kernel are averaged: they were measured repeatedly.
class SummedRows {
 public:
  /// @param plus  the file of the second part; empty: all parts are of one file
  SummedRows(std::size_t parts, const std::filesystem::path& path,
             const std::filesystem::path& plus, RowFates* fates)
      : parts_(parts), path_(path), plus_(plus), fates_(fates) {}
  /// @param kernel  a number for the kernel that was timed
  void add(const KernelRow& row, std::size_t part, std::size_t kernel) {
    rows_.push_back(row);
    tag_of_.push_back(parts_ == 1 ? kernel : part);
  }
  /// Shapes that lack a part are left out. In the order of the first row of each shape.
  std::vector<KernelRow> finish() &&;

 private:
  std::vector<KernelRow> averaged();

  std::size_t parts_;
  const std::filesystem::path& path_;
  const std::filesystem::path& plus_;
  RowFates* fates_;
  std::vector<KernelRow> rows_;
  std::vector<std::size_t> tag_of_;  // the part, or the kernel where there is one part
};

/// Leaves out rows of less than `floors` times the floor of eager launches: the median latency of
/// the rows with at most 64 new tokens in all and no context, of the same widths, heads and format
/// of the KV cache. Shorter rows say how fast the host launches.
void drop_launch_floor(KernelTable& table, double floors, const std::filesystem::path& path,
                       RowFates* fates);

}  // namespace rooflua
