#pragma once
// The prices of one scenario: a Lua state of its own with the scenario open in it, and what it
// answered last. Not for several threads at once.

#include <vector>

#include "base/json.h"
#include "library/batch_reader.h"
#include "library/price_memory.h"
#include "script/batch_function.h"
#include "script/vm/vm.h"

namespace rooflua::library {

class Pricer {
 public:
  /// @param scenario  of stated() (library/opening.h)
  /// @throws Error
  explicit Pricer(const std::vector<Json>& scenario);

  /// Seconds. @throws Misuse, Error
  double price(const ::rooflua_batch* batch);
  /// As `rooflua step --json` has it, with the notes. @throws Misuse, Error
  Json explain(const ::rooflua_batch* batch);
  /// The document of `rooflua capacity`. @throws Error
  Json capacity();

 private:
  script::Vm vm_;
  Json about_;  // what opening said of the scenario
  script::BatchFunction price_, explain_;
  BatchReader reader_;
  PriceMemory memory_;
};

}  // namespace rooflua::library
