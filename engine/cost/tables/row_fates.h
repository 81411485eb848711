#pragma once
// What became of the rows of published files: taken, or left out for a reason.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rooflua {

/// A file is read once for every table that is made from it. A row that one table takes is taken.
/// Of several reasons against a row the strongest stays: that of the table that came nearest to
/// taking the row.
class RowFates {
 public:
  static constexpr std::uint8_t of_a_rule = 200, is_taken = 201, taken_back = 202;

  void take(const std::filesystem::path& path, int line);
  /// @param strength  how near the table came to taking the row
  void leave_out(const std::filesystem::path& path, int line, std::uint8_t strength,
                 std::string_view reason);

  /// Rows that were averaged with another one of the same shape and kernel.
  void note_averaged(std::size_t rows) { averaged_ += rows; }
  std::size_t averaged() const { return averaged_; }

  struct Count {
    std::string file, reason;
    std::size_t rows = 0;
  };
  /// By file, then by reason.
  std::vector<Count> left_out() const;
  std::size_t taken() const;

 private:
  struct Fate {
    std::uint8_t strength = 0;
    std::uint16_t reason = 0;
  };
  Fate& fate(const std::filesystem::path& path, int line);
  std::map<std::filesystem::path, std::vector<Fate>> files_;
  std::size_t averaged_ = 0;
  std::vector<Fate>* last_ = nullptr;
  std::filesystem::path last_path_;
  std::vector<std::string> reasons_;
  std::unordered_map<std::string, std::uint16_t> reason_of_;
};

}  // namespace rooflua
