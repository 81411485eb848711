#pragma once
// Plays from a list.

#include <memory>
#include <utility>
#include <vector>

#include "serve/plays/plays.h"

namespace rooflua::test {

class ListedPlays : public PlaySource {
 public:
  explicit ListedPlays(std::vector<Play> plays) : plays_(std::move(plays)) {}
  bool next(Play& play) override {
    if (cursor_ == plays_.size()) return false;
    play = plays_[cursor_++];
    return true;
  }
  std::unique_ptr<PlaySource> fork() const override { return std::make_unique<ListedPlays>(*this); }

 private:
  std::vector<Play> plays_;
  std::size_t cursor_ = 0;
};

}  // namespace rooflua::test
