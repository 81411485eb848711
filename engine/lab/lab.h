#pragma once
// The laboratory, as the command starts it.

#include <functional>
#include <string>

#include "lab/options.h"
#include "lab/question.h"

namespace rooflua::lab {

/// Serves until INT or TERM. @param ready  is told the address when the server listens
/// @throws Error if the port is taken; without libevent, saying what to install
void serve(script::Vm& vm, const Subject& subject, const ServerOptions& options,
           const std::function<void(const std::string& address)>& ready);

}  // namespace rooflua::lab
