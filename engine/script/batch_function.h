#pragma once
// A function of a library module that is asked about one batch after another.

#include <memory>

#include "base/json.h"
#include "script/vm/vm.h"
#include "serve/contract/batch.h"

namespace rooflua::script {

class LuaReference;

class BatchFunction {
 public:
  BatchFunction(Vm& vm, const char* module, const char* name);
  ~BatchFunction();
  BatchFunction(const BatchFunction&) = delete;
  BatchFunction& operator=(const BatchFunction&) = delete;

  /// Its number. The batch stays as it is during the call, and Lua keeps no part of it.
  /// @param context_max  the largest context of its decodes
  /// @throws LuaError
  double number(const Batch& batch, double context_max);
  /// The same for a function that returns a table.
  Json document(const Batch& batch, double context_max);

 private:
  template <class Take>
  void call(const Batch& batch, double context_max, const Take& take);

  Vm* vm_;
  std::unique_ptr<LuaReference> function_;
};

}  // namespace rooflua::script
