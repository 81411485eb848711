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
#include "script/vm/memory_account.h"

struct lua_State;

namespace rooflua::script {

struct VmOptions {
  std::filesystem::path home;  // holds scripts/, scenarios/, bench_data/
  bool trusted = false;        // scripts see io, os, ffi, ...
  bool owns_process = true;    // false in another program: no limit of the process is changed
  bool interruptible = true;   // Ctrl-C; its guards cost 4-8 % of compiled code
  double timeout_s = 0;        // CPU seconds; 0 = no limit
  // Cap of the Lua heap and of what the engine holds for scripts, unless trusted; 0 = none.
  std::size_t memory_bytes = std::size_t{4} << 30;
  double load_instructions = 2e9;  // VM instructions a scenario may take to load; 0 = no limit
  double load_cpu_s = 10;          // CPU seconds that it may take, for calls that take long
  bool jit = true;
  bool jit_log = false;          // record the lines that could not be compiled
  bool print_to_stderr = false;  // `print` writes to stderr, because stdout is a JSON document
};

/// An error in a script. what() starts with the file and line of the user's script.
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

  /// Runs a file as `luajit FILE ARGS` does: trusted, with the library and the file's folder on the
  /// path. Errors are printed to stderr with a traceback. @return the exit status
  int run_file(const std::filesystem::path& file, const std::vector<std::string>& arguments);

  /// Runs text in the VM's environment (sandboxed unless trusted) and returns its first result,
  /// converted by tostring. Messages call the text `name`. @throws LuaError
  std::string run_text(std::string_view text, const std::string& name);

  /// Calls function `name` of library module `module` ("rooflua.program.scenarios") with documents,
  /// and returns its first result as a document. @throws LuaError
  Json call(const std::string& module, const std::string& name, const std::vector<Json>& arguments);

  /// The same result as a line of JSON, sooner.
  std::string call_for_line(const std::string& module, const std::string& name,
                            const std::vector<Json>& arguments);

  /// Runs `body` as a protected call of Lua. @throws LuaError for a Lua error; exceptions that
  /// `body` throws are rethrown
  void protect(const std::function<void(lua_State*)>& body);

  /// Discards a Ctrl-C that arrived while no script ran.
  void clear_interrupt();

  /// Lines such as "policy.lua:41: not compiled: NYI: bytecode FNEW (3 times)", if
  /// options().jit_log.
  std::vector<std::string> jit_log();
  const VmOptions& options() const { return options_; }
  lua_State* state() const { return state_; }
  const MemoryAccount& memory() const { return heap_->account; }

 private:
  void call(const std::string& module, const std::string& name, const std::vector<Json>& arguments,
            const std::function<void(lua_State*)>& take_result);
  void open();
  void close();

  VmOptions options_;
  struct Heap {
    MemoryAccount account;
    void* (*allocate)(void*, void*, std::size_t, std::size_t) = nullptr;  // LuaJIT's allocator
    void* arena = nullptr;
  };
  std::unique_ptr<Heap> heap_;
  lua_State* state_ = nullptr;
  std::unique_ptr<Interrupt> interrupt_;
  int depth_ = 0;

  static void* allocate(void* heap, void* block, std::size_t old_size, std::size_t new_size);
};

}  // namespace rooflua::script
