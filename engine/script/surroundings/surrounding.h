#pragma once
// A policy around the engines of a simulation that is written in Lua.

#include "serve/contract/bindings.h"

namespace rooflua::script {

class Surrounding {
 public:
  virtual ~Surrounding() = default;
  virtual void bind(Bindings& bindings) = 0;
};

}  // namespace rooflua::script
