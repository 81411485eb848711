#pragma once
// The parts that a run may have (core/part.h), in the order in which the loop calls them.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "serve/core/part.h"

namespace rooflua {

struct PartMaker {
  std::string_view name;  // its folder here
  std::unique_ptr<Part> (*make)(Core& core, Loop& loop);
  bool begins_later = false;  // a run may get it while it runs
};
std::span<const PartMaker> part_order();

/// The parts of one run, and those that hear of something.
class Parts {
 public:
  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  std::vector<std::unique_ptr<Part>> all;  // by row; null where the run has none
  std::vector<OnTime*> on_time;
  std::vector<OnSpec*> on_spec;
  std::vector<OnRequest*> on_request;
  std::vector<OnStep*> on_step;
  std::vector<OnFlow*> on_flow;
  std::vector<OnKv*> on_kv;

  /// Those that a new run asks for (parts_of()). @throws Error if one of them is not in the list
  void make(Core& core, Loop& loop);
  /// Those of a copy of a run. @throws Error if the copy has not the same parts
  void copy(const Parts& others, Core& core, Loop& loop);
  /// The bindings of the run are others than `before`.
  void rebind(const Bindings& before);
  /// When something is due, of what parts say now. @param other  when anything else is
  Picoseconds due(Picoseconds other);
  Picoseconds next = 0;  // nothing of a part is due before; 0: they are asked
  /// The part of that name, made now if there is none.
  Part& demand(std::string_view name, Core& core, Loop& loop);

 private:
  void list();
};

}  // namespace rooflua
