#include "library/opening.h"

#include <atomic>
#include <utility>

#include "base/json_text.h"
#include "base/packed/documents.h"
#include "library/handles.h"
#include "script/packed_library.h"
#include "script/published_reader.h"
#include "script/vm/compiled_chunks.h"
#include "script/vm/home.h"

namespace rooflua::library {

std::uintptr_t next_handle() {
  static std::atomic<std::uintptr_t> last{0};
  return ++last;
}

script::VmOptions vm_options() {
  script::VmOptions options;
  options.home = script::home_of(reinterpret_cast<const void*>(&rooflua_open), ROOFLUA_SOURCE_DIR);
  options.interruptible = false;
  options.owns_process = false;
  options.memory_bytes = 0;  // the other program's memory would count as well
  options.print_to_stderr = true;
  script::use_packed_library(script::packed_library());
  use_packed_documents(script::packed_documents());
  script::read_published_tables(options.home);
  return options;
}

std::vector<Json> stated(const char* scenario, const char* overrides) {
  if (scenario == nullptr && overrides == nullptr)
    throw Misuse("scenario", "neither a scenario nor overrides are given");
  Json changes = overrides == nullptr ? Json::object() : parse_json(overrides, "overrides");
  if (!changes.is_object())
    throw Misuse("overrides", "expected an object, as in {\"deployment.tp\": 2}, found " +
                                  std::string(kind_name(changes)));
  return {scenario == nullptr ? Json() : Json(scenario), std::move(changes)};
}

}  // namespace rooflua::library
