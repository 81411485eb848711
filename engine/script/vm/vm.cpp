#include "script/vm/vm.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "script/vm/compiler.h"
#include "script/vm/interrupt.h"
#include "script/vm/library.h"
#include "script/vm/library_options.h"
#include "script/vm/patterns.h"
#include "script/vm/stack.h"

namespace rooflua::script {

namespace {

/// Message handler: replaces the message by {message, traceback}.
int add_traceback(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING) {
    if (luaL_callmeta(L, 1, "__tostring") != 0 && lua_isstring(L, -1) != 0) {
      lua_replace(L, 1);
    } else {
      lua_pushfstring(L, "a script raised an error that is not text but %s",
                      describe_value(L, 1).c_str());
      lua_replace(L, 1);
    }
  }
  // After a stack overflow there is too little stack left to build a traceback.
  if (std::strstr(lua_tostring(L, 1), "stack overflow") != nullptr) return 1;
  {
    const std::string own = without_library(L, lua_tostring(L, 1));
    lua_pushlstring(L, own.data(), own.size());
    lua_replace(L, 1);
  }
  lua_createtable(L, 2, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  luaL_traceback(L, L, nullptr, 1);
  lua_rawseti(L, -2, 2);
  return 1;
}

/// Lua limits recursion to the 65,500 slots of its own stack. A recursion through callbacks of
/// string.gsub that uses all of them needs about 64 MB of C stack (check_c_stack ends it sooner),
/// one through other functions less than 20 MB. The C stack of the main thread grows on demand up
/// to the soft limit, which is raised here.
void allow_deep_callbacks() {
  constexpr rlim_t wanted = rlim_t{64} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_STACK, &limit);
}

/// Takes and frees 256 references, so that the registry gets an array part for them. Otherwise
/// references lie in the registry's hash part, where a search is slow, and each step of a
/// simulation searches twice.
void reserve_references(lua_State* L) {
  std::array<int, 256> references{};
  for (int& each : references) {
    lua_pushboolean(L, 1);
    each = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  for (std::size_t i = references.size(); i-- > 0;) {
    luaL_unref(L, LUA_REGISTRYINDEX, references[i]);
  }
}

/// Replaces xpcall and functions of `table` by ones that Ctrl-C and the limit on loading can stop.
void put_stoppable(lua_State* L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "rooflua.sandbox.handlers");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "xpcall");
  lua_setglobal(L, "xpcall");
  lua_pop(L, 1);
  lua_getglobal(L, "table");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "rooflua.sandbox.tables");
  lua_call(L, 1, 1);
  for (const char* name : {"sort", "insert", "move"}) {
    lua_getfield(L, -1, name);
    lua_setfield(L, -3, name);
  }
  lua_pop(L, 2);
}

constexpr int traceback_slot = 1, run_body_slot = 2;  // the bottom of the main stack, never popped

struct Body {
  const std::function<void(lua_State*)>* run;
  std::exception_ptr thrown;
};

int run_body(lua_State* L) {
  auto* body = static_cast<Body*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  bool failed = false;
  try {
    (*body->run)(L);
  } catch (const std::exception&) {
    body->thrown = std::current_exception();
    failed = true;
  }
  if (failed) {
    lua_pushliteral(L, "C++ exception");
    return lua_error(L);
  }
  return 0;
}

std::string text_at(lua_State* L, int index) {
  const char* text = lua_tostring(L, index);
  return text == nullptr ? "" : text;
}

}  // namespace

/// LuaJIT's own allocator with a limit on the heap. (With malloc a serving run takes a fifth
/// longer.)
void* Vm::allocate(void* heap, void* block, std::size_t old_size, std::size_t new_size) {
  auto& own = *static_cast<Heap*>(heap);
  MemoryAccount& account = own.account;
  if (new_size > old_size && account.used() + (new_size - old_size) > account.limit) {
    account.native = native_bytes();  // less than before where a simulation was closed
    if (account.used() + (new_size - old_size) > account.limit) return nullptr;
  }
  void* moved = own.allocate(own.arena, block, old_size, new_size);
  if (moved != nullptr || new_size == 0) account.lua += new_size - old_size;
  return moved;
}

Vm::Vm(const VmOptions& options) : options_(options), heap_(std::make_unique<Heap>()) {
  if (options.owns_process) allow_deep_callbacks();
  state_ = luaL_newstate();
  if (state_ == nullptr) throw Error("Lua", "not enough memory for a state");
  MemoryAccount& account = heap_->account;
  account.native = account.native_at_start = account.told = native_bytes();
  if (options.memory_bytes > 0 && !options.trusted) {
    account.limit = options.memory_bytes;
    account.lua = static_cast<std::size_t>(lua_gc(state_, LUA_GCCOUNT, 0)) << 10;
    heap_->allocate = lua_getallocf(state_, &heap_->arena);
    lua_setallocf(state_, &Vm::allocate, heap_.get());
  }
  try {
    lua_pushcfunction(state_, add_traceback);
    lua_pushcfunction(state_, run_body);
    protect([this](lua_State*) { open(); });
    interrupt_ = std::make_unique<Interrupt>(state_, options.interruptible, options.timeout_s);
  } catch (...) {
    close();
    throw;
  }
}

Vm::~Vm() {
  close();
}

void Vm::close() {
  interrupt_.reset();
  // LuaJIT frees its arena only if its own allocator is installed again.
  if (heap_->allocate != nullptr) lua_setallocf(state_, heap_->allocate, heap_->arena);
  lua_close(state_);
}

void Vm::open() {
  luaL_openlibs(state_);
  bind_patterns(state_);
  reserve_references(state_);
  if (!options_.jit) luaJIT_setmode(state_, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  prepare_compiler(state_);
  LibraryOptions library;
  library.home = options_.home;
  library.trusted = options_.trusted;
  library.print_to_stderr = options_.print_to_stderr;
  library.load_instructions = options_.load_instructions;
  library.load_cpu_s = options_.load_cpu_s;
  library.jit = options_.jit;
  library.memory = &heap_->account;
  open_library(state_, library);
  put_stoppable(state_);
  if (options_.jit_log) {
    lua_getglobal(state_, "require");
    lua_pushliteral(state_, "rooflua.sandbox.jitlog");
    lua_call(state_, 1, 0);
  }
}

void Vm::protect(const std::function<void(lua_State*)>& body) {
  Body call{&body, nullptr};
  // Before lua_pcall nothing may allocate in the Lua heap: the heap may be full, and an error
  // raised outside of a protected call ends the process.
  const int top = lua_gettop(state_);
  lua_pushvalue(state_, run_body_slot);
  lua_pushlightuserdata(state_, &call);
  ++depth_;
  const int status = lua_pcall(state_, 1, 0, traceback_slot);
  --depth_;
  const std::string stopped = stop_reason() != StopReason::none ? stop_message() : "";
  if (depth_ == 0 && interrupt_ != nullptr && !stopped.empty()) interrupt_->clear();
  if (status == 0) {
    lua_settop(state_, top);
    return;
  }
  if (call.thrown) {
    lua_settop(state_, top);
    std::rethrow_exception(call.thrown);
  }
  std::string message, traceback;
  if (lua_istable(state_, -1)) {
    lua_rawgeti(state_, -1, 1);
    lua_rawgeti(state_, -2, 2);
    message = text_at(state_, -2);
    traceback = text_at(state_, -1);
  } else {
    message = text_at(state_, -1);  // after an out-of-memory error LuaJIT does not call the handler
  }
  message = without_library(nullptr, message);  // of a stack overflow
  lua_settop(state_, top);
  const bool full = message.find("not enough memory") != std::string::npos &&
                    message.find("scripts may use") == std::string::npos;
  if (status == LUA_ERRMEM || full) {
    MemoryAccount& account = heap_->account;
    account.native = native_bytes();  // freed blocks are used again without growth of the process
    message = account.limit > 0 ? not_enough(account) : "not enough memory";
    lua_gc(state_, LUA_GCCOLLECT, 0);
  }
  // A handler fails where a stop comes while it asks an error for its text, and where a compiled
  // recursion has overflowed the stack.
  const bool is_overflow = message.find("stack overflow") != std::string::npos;
  if (!stopped.empty() && (status == LUA_ERRERR || is_overflow)) throw LuaError(stopped, "");
  if (status == LUA_ERRERR) message = "stack overflow: a function calls itself without end";
  throw LuaError(message, traceback);
}

void Vm::clear_interrupt() {
  if (interrupt_ != nullptr) interrupt_->clear();
}

int Vm::run_file(const std::filesystem::path& file, const std::vector<std::string>& arguments) {
  try {
    protect([&](lua_State* L) {
      lua_getglobal(L, "require");
      lua_pushliteral(L, "rooflua.sandbox.chunks");
      lua_call(L, 1, 1);
      lua_getfield(L, -1, "run_trusted");
      lua_pushstring(L, file.c_str());
      for (const std::string& each : arguments) lua_pushlstring(L, each.data(), each.size());
      lua_call(L, static_cast<int>(arguments.size()) + 1, 0);
    });
    return 0;
  } catch (const LuaError& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), error.traceback().c_str());
    return 1;
  }
}

std::string Vm::run_text(std::string_view text, const std::string& name) {
  std::string result;
  protect([&](lua_State* L) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "rooflua.sandbox.chunks");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "run_text");
    lua_pushlstring(L, text.data(), text.size());
    lua_pushstring(L, name.c_str());
    lua_call(L, 2, 1);
    result = text_at(L, -1);
  });
  return result;
}

void Vm::call(const std::string& module, const std::string& name,
              const std::vector<Json>& arguments,
              const std::function<void(lua_State*)>& take_result) {
  protect([&](lua_State* L) {
    lua_getglobal(L, "require");
    lua_pushstring(L, module.c_str());
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name.c_str());
    for (const Json& each : arguments) push_json(L, each, false);
    lua_call(L, static_cast<int>(arguments.size()), 1);
    take_result(L);
  });
}

Json Vm::call(const std::string& module, const std::string& name,
              const std::vector<Json>& arguments) {
  Json result;
  call(module, name, arguments, [&](lua_State* L) { result = to_json(L, -1, name); });
  return result;
}

std::string Vm::call_for_line(const std::string& module, const std::string& name,
                              const std::vector<Json>& arguments) {
  std::string result;
  call(module, name, arguments, [&](lua_State* L) { result = to_json_line(L, -1, name); });
  return result;
}

std::vector<std::string> Vm::jit_log() {
  std::vector<std::string> lines;
  if (!options_.jit_log) return lines;
  const Json found = call("rooflua.sandbox.jitlog", "lines", {});
  if (!found.is_array()) return lines;
  for (const Json& line : found.items()) lines.push_back(line.text());
  return lines;
}

}  // namespace rooflua::script
