// The five functions of the C interface: what crosses is checked here, and every exception becomes
// a code and a text. A handle is a number that is never given again. It is looked up among the
// pricers of the thread that calls, so that a closed one and one of another thread are found.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/json_text.h"
#include "base/printable.h"
#include "library/pricer.h"
#include "script/packed_library.h"
#include "script/published_reader.h"
#include "script/vm/compiled_chunks.h"
#include "script/vm/home.h"

namespace rooflua::library {

namespace {

struct Open {
  std::uintptr_t handle;
  std::unique_ptr<Pricer> pricer;
};

/// Of this thread. They are closed when the thread ends.
std::vector<Open>& pricers() {
  thread_local std::vector<Open> all;
  return all;
}

std::uintptr_t next_handle() {
  static std::atomic<std::uintptr_t> last{0};
  return ++last;
}

class Closed : public Error {
 public:
  using Error::Error;
};

Pricer& open_pricer(const rooflua_pricer* given) {
  if (given == nullptr) throw Closed("pricer", "is NULL");
  const auto handle = reinterpret_cast<std::uintptr_t>(given);
  for (const Open& each : pricers())
    if (each.handle == handle) return *each.pricer;
  throw Closed("pricer", "is closed, or another thread opened it; each thread opens its own");
}

/// Copies a text with its NUL, as much as fits, as UTF-8.
void copy(const std::string& given, char* to, std::size_t bytes) {
  if (to == nullptr || bytes == 0) return;
  const std::string text = rooflua::valid_utf8(given);
  std::size_t length = std::min(text.size(), bytes - 1);
  while (length > 0 && length < text.size() &&
         (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    --length;  // not inside of a character
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// Runs `body`; an exception becomes a code, and `tell` gets its text. Lua's own errors were
/// exceptions before (Vm::protect), so nothing else passes here.
template <class Body, class Tell>
int answered(const Body& body, const Tell& tell) noexcept {
  try {
    try {
      return body();
    } catch (const Misuse& error) {
      tell(message_of(error));
      return ROOFLUA_MISUSE;
    } catch (const Closed& error) {
      tell(message_of(error));
      return ROOFLUA_CLOSED;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      tell(message_of(error));
      return ROOFLUA_ERROR;
    }
  } catch (...) {
    return ROOFLUA_MEMORY;  // of the message as well
  }
}

/// The same with a text that lies in the caller's memory.
template <class Body>
int answered(const Body& body, char* error, std::size_t bytes) noexcept {
  const auto tell = [&](const std::string& text) { copy(text, error, bytes); };
  const int code = answered(body, tell);
  if (code == ROOFLUA_MEMORY && error != nullptr && bytes > 0)
    std::strncpy(error, "memory has run out", bytes)[bytes - 1] = '\0';
  return code;
}

void fill(rooflua_memory& out, const Json& told) {
  const Json& deployment = *told.find("deployment");
  out.kv_tokens = static_cast<std::int64_t>(number_of(told, "kv_tokens", -1));
  out.kv_blocks = static_cast<std::int64_t>(number_of(told, "kv_blocks", -1));
  out.block_size = static_cast<std::int64_t>(number_of(deployment, "block_size"));
  out.max_num_seqs = static_cast<std::int64_t>(number_of(deployment, "max_num_seqs"));
  out.max_num_batched_tokens =
      static_cast<std::int64_t>(number_of(deployment, "max_num_batched_tokens"));
  out.max_model_len = static_cast<std::int64_t>(number_of(deployment, "max_model_len"));
  out.total_bytes = number_of(told, "total_bytes");
  out.budget_bytes = number_of(told, "budget_bytes");
  out.kv_bytes = number_of(told, "kv_bytes");
  out.starts = is_true(told, "starts") ? 1 : 0;
  copy(text_of(told, "reason"), out.text, sizeof out.text);
}

}  // namespace

}  // namespace rooflua::library

// Not all of the namespace: the engine has a rooflua_batch as well.
using rooflua::Json;
using namespace rooflua::library;

extern "C" {

rooflua_pricer* rooflua_open(const char* scenario_path, const char* overrides_json, char* error,
                             std::size_t error_bytes) {
  std::uintptr_t handle = 0;
  answered(
      [&] {
        if (scenario_path == nullptr && overrides_json == nullptr)
          throw Misuse("rooflua_open", "neither a scenario nor overrides are given");
        const std::filesystem::path home = rooflua::script::home_of(
            reinterpret_cast<const void*>(&rooflua_open), ROOFLUA_SOURCE_DIR);
        rooflua::script::use_packed_library(rooflua::script::packed_library());
        rooflua::script::read_published_tables(home);
        auto pricer = std::make_unique<Pricer>(home, scenario_path, overrides_json);
        const std::uintptr_t made = next_handle();
        pricers().push_back({made, std::move(pricer)});
        handle = made;
        return int{ROOFLUA_OK};
      },
      error, error_bytes);
  return reinterpret_cast<rooflua_pricer*>(handle);
}

int rooflua_price(rooflua_pricer* pricer, const rooflua_batch* batch, double* seconds, char* error,
                  std::size_t error_bytes) {
  return answered(
      [&] {
        Pricer& open = open_pricer(pricer);
        if (seconds == nullptr) throw Misuse("seconds", "is NULL");
        *seconds = open.price(batch);
        return int{ROOFLUA_OK};
      },
      error, error_bytes);
}

int rooflua_explain(rooflua_pricer* pricer, const rooflua_batch* batch, char* json,
                    std::size_t bytes) {
  const auto tell = [&](const std::string& text) {
    Json problem = Json::object();
    problem["error"] = text;
    copy(rooflua::dump_json(problem), json, bytes);
  };
  return answered(
      [&] {
        Pricer& open = open_pricer(pricer);
        if (json == nullptr && bytes > 0) throw Misuse("json", "is NULL");
        const std::string text = rooflua::dump_json(open.explain(batch));
        copy(text, json, bytes);
        return static_cast<int>(text.size());
      },
      tell);
}

int rooflua_capacity(rooflua_pricer* pricer, rooflua_memory* memory) {
  const bool has_room = memory != nullptr && memory->size == sizeof(rooflua_memory);
  return answered(
      [&] {
        Pricer& open = open_pricer(pricer);
        if (memory == nullptr) throw Misuse("memory", "is NULL");
        if (!has_room)
          throw Misuse("memory: size",
                       "expected sizeof(rooflua_memory), found " + std::to_string(memory->size));
        rooflua_memory found{};
        found.size = sizeof found;
        fill(found, open.capacity());
        *memory = found;
        return int{ROOFLUA_OK};
      },
      has_room ? memory->text : nullptr, has_room ? sizeof memory->text : 0);
}

void rooflua_close(rooflua_pricer* pricer) {
  const auto handle = reinterpret_cast<std::uintptr_t>(pricer);
  answered(
      [&] {
        std::erase_if(pricers(), [&](const Open& each) { return each.handle == handle; });
        return int{ROOFLUA_OK};
      },
      nullptr, 0);
}

}  // extern "C"
