#pragma once
// How the library works in one Lua state.

#include <filesystem>

namespace rooflua::script {

struct MemoryAccount;

struct LibraryOptions {
  std::filesystem::path home;    // holds scripts/, scenarios/, bench_data/
  bool trusted = true;           // scripts have the whole standard library
  bool print_to_stderr = false;  // stdout belongs to a JSON document
  double load_instructions = 0;  // VM instructions that loading a scenario may take; 0 = no limit
  double load_cpu_s = 10;        // CPU seconds that loading a scenario may take
  bool jit = true;               // false: scripts are interpreted
  MemoryAccount* memory = nullptr;  // outlives the Lua state; null: no cap
};

}  // namespace rooflua::script
