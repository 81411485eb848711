#pragma once
// The parts that a run may have (core/part.h), in the order in which the loop calls them.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "serve/core/part.h"

namespace rooflua {

struct PartRow {
  std::string_view name;  // its folder here
  std::unique_ptr<Part> (*make)(Core& core, Loop& loop);
};
std::span<const PartRow> part_order();

/// The parts of one run, and those that hear of something.
class Parts {
 public:
  Parts() = default;
  /// A copy has none yet: see copy().
  Parts(const Parts&) {}
  Parts& operator=(const Parts&) = delete;

  std::vector<std::unique_ptr<Part>> all;  // by row; null where the run has none
  std::vector<OnTime*> on_time;
  std::vector<OnSpec*> on_spec;
  std::vector<OnRequest*> on_request;
  std::vector<OnStep*> on_step;
  std::vector<OnFlow*> on_flow;

  /// Those that a new run asks for (parts_of()). @throws Error if one of them is not in the list
  void make(Core& core, Loop& loop);
  /// Those of a copy of a run. @throws Error if the copy has not the same parts
  void copy(const Parts& others, Core& core, Loop& loop);

 private:
  void add(std::unique_ptr<Part> part);
};

}  // namespace rooflua
