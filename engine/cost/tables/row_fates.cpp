#include "cost/tables/row_fates.h"

#include <algorithm>

namespace rooflua {

RowFates::Fate& RowFates::fate(const std::filesystem::path& path, int line) {
  if (last_ == nullptr || last_path_ != path) {
    last_ = &files_[path];
    last_path_ = path;
  }
  const auto place = static_cast<std::size_t>(line);
  if (place >= last_->size()) last_->resize(std::max(place + 1, 2 * last_->size()));
  return (*last_)[place];
}

void RowFates::take(const std::filesystem::path& path, int line) {
  Fate& fate = this->fate(path, line);
  if (fate.strength != taken_back) fate.strength = is_taken;
}

void RowFates::leave_out(const std::filesystem::path& path, int line, std::uint8_t strength,
                         std::string_view reason) {
  Fate& fate = this->fate(path, line);
  if (fate.strength >= strength) return;
  const auto [found, is_new] =
      reason_of_.try_emplace(std::string(reason), static_cast<std::uint16_t>(reasons_.size()));
  if (is_new) reasons_.emplace_back(reason);
  fate = {strength, found->second};
}

std::vector<RowFates::Count> RowFates::left_out() const {
  std::vector<Count> counts;
  for (const auto& [path, fates] : files_) {
    std::map<std::string, std::size_t> of_reason;
    for (const Fate& fate : fates) {
      if (fate.strength != 0 && fate.strength != is_taken) ++of_reason[reasons_[fate.reason]];
    }
    for (const auto& [reason, rows] : of_reason)
      counts.push_back({path.filename().string(), reason, rows});
  }
  return counts;
}

std::size_t RowFates::taken() const {
  std::size_t rows = 0;
  for (const auto& [path, fates] : files_) {
    rows += static_cast<std::size_t>(std::count_if(
        fates.begin(), fates.end(), [](const Fate& fate) { return fate.strength == is_taken; }));
  }
  return rows;
}

}  // namespace rooflua
