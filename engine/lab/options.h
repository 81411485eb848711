#pragma once
// What the command `lab` says of its server.

#include <cstddef>

namespace rooflua::lab {

struct ServerOptions {
  int port = 0;             // 0: any free one
  bool may_move = false;    // another port is taken where this one is not free
  double question_s = 300;  // longest time of a question
};

/// Of the Lua heap and of what the engine holds for it, in the process of a question.
inline constexpr std::size_t question_bytes = std::size_t{2} << 30;

}  // namespace rooflua::lab
