// The functions of the C interface that price steps: what crosses is checked here.

#include <memory>

#include "base/json_text.h"
#include "library/handles.h"
#include "library/opening.h"
#include "library/pricer.h"

namespace rooflua::library {

namespace {

/// Of this thread. They are closed when the thread ends.
Handles<Pricer>& pricers() {
  thread_local Handles<Pricer> all("pricer");
  return all;
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
  const auto make = [&] { return std::make_unique<Pricer>(stated(scenario_path, overrides_json)); };
  return reinterpret_cast<rooflua_pricer*>(pricers().open(make, error, error_bytes));
}

int rooflua_price(rooflua_pricer* pricer, const rooflua_batch* batch, double* seconds, char* error,
                  std::size_t error_bytes) {
  return answered(
      [&] {
        Pricer& open = pricers().at(pricer);
        if (seconds == nullptr) throw Misuse("seconds", "is NULL");
        *seconds = open.price(batch);
        return int{ROOFLUA_OK};
      },
      error, error_bytes);
}

int rooflua_explain(rooflua_pricer* pricer, const rooflua_batch* batch, char* json,
                    std::size_t bytes) {
  return answered_in_json([&] { return rooflua::dump_json(pricers().at(pricer).explain(batch)); },
                          json, bytes);
}

int rooflua_capacity(rooflua_pricer* pricer, rooflua_memory* memory) {
  const bool has_room = memory != nullptr && memory->size == sizeof(rooflua_memory);
  return answered(
      [&] {
        Pricer& open = pricers().at(pricer);
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
  pricers().close(pricer);
}

}  // extern "C"
