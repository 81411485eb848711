#pragma once
// A Lua state with the library in it: trusted (the full standard library, like luajit) or sandboxed
// (an allow-listed environment), with limits. One state per run; states share nothing.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

struct lua_State;

namespace rooflua::script {

struct VmOptions {
  std::filesystem::path home;                       // holds scripts/, scenarios/, bench_data/
  bool trusted = false;                             // scripts see io, os, ffi, ...
  bool interruptible = true;                        // Ctrl-C; costs 4-8 % in compiled code (guards)
  double timeout_s = 0;                             // CPU seconds; 0 = no limit
  std::size_t memory_bytes = std::size_t{4} << 30;  // cap of the Lua heap, unless trusted; 0 = none
  double load_instructions = 2e9;  // VM instructions a scenario may take to load; 0 = no limit
  bool jit = true;
  bool jit_log = false;          // note lines that could not be compiled
  bool print_to_stderr = false;  // stdout belongs to a document
};

/// A script went wrong. what() starts with the user's file:line.
class LuaError : public Error {
 public:
  LuaError(std::string message, std::string traceback)
      : Error("", std::move(message)), traceback_(std::move(traceback)) {}
  const std::string& traceback() const { return traceback_; }

 private:
  std::string traceback_;
};

class Interrupt;

class Vm {
 public:
  explicit Vm(const VmOptions& options);
  ~Vm();
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  /// Runs a file as `luajit FILE ARGS` would, trusted, with the library and the file's folder on
  /// the path. Its errors go to stderr with a traceback. @return the exit status
  int run_file(const std::filesystem::path& file, const std::vector<std::string>& arguments);

  /// Runs text in the VM's environment (sandboxed unless trusted) and returns what tostring gives
  /// for its first result. `name` stands for the text in messages. @throws LuaError
  std::string run_text(std::string_view text, const std::string& name);

  /// Calls function `name` of library module `module` ("rooflua.scenario.program") with documents,
  /// and returns its first result as a document. @throws LuaError
  Json call(const std::string& module, const std::string& name, const std::vector<Json>& arguments);

  /// Runs `body` under protection. @throws LuaError; exceptions of `body` pass through
  void protect(const std::function<void(lua_State*)>& body);

  /// Forgets a Ctrl-C that came while nothing ran.
  void clear_interrupt();

  /// True if the linked LuaJIT compiles table lengths wrongly and load forwarding was turned off.
  bool mitigated() const { return mitigated_; }
  /// "policy.lua:41: not compiled: NYI: bytecode FNEW (3 times)", where jit_log was asked for.
  std::vector<std::string> jit_log();
  const VmOptions& options() const { return options_; }
  lua_State* state() const { return state_; }

 private:
  void open();
  void close();

  VmOptions options_;
  struct Heap {
    std::size_t used = 0, limit = 0;
    void* (*allocate)(void*, void*, std::size_t, std::size_t) = nullptr;  // LuaJIT's own
    void* arena = nullptr;
  };
  std::unique_ptr<Heap> heap_;
  lua_State* state_ = nullptr;
  std::unique_ptr<Interrupt> interrupt_;
  bool mitigated_ = false;
  int depth_ = 0;

  static void* allocate(void* heap, void* block, std::size_t old_size, std::size_t new_size);
};

}  // namespace rooflua::script
