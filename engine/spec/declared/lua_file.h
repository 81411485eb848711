#pragma once
// Runs the Lua file of a kind of layers, in a state of its own that has functions of numbers, lists
// and texts alone, for so many instructions and so much memory.

#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"

struct lua_State;

namespace rooflua::declared {

class LuaFile {
 public:
  /// Runs the file, which must return a table.
  /// @param shown  the file in messages
  /// @throws Error with file and line, here and below: the file's own, or that it takes too long or
  /// too much memory
  LuaFile(const std::filesystem::path& path, std::string shown);
  ~LuaFile();
  LuaFile(const LuaFile&) = delete;
  LuaFile& operator=(const LuaFile&) = delete;

  /// What the file returned, without its functions. Values know the file's first line.
  Json table() const;
  bool has(const std::string& function) const;
  /// Calls a function of the file with the parameters and the model's figures: `ops` gets `ask`,
  /// the symbols and operations, in their place. Values know the line of the function, and
  /// operations their own.
  Json call(const std::string& function, const Json& parameters, const Json& model) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rooflua::declared
