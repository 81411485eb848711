#include "emulate/kv/form.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/fields.h"

namespace rooflua::emulate {

namespace {

constexpr std::array names{
    "block_hashes", "parent_block_hash", "token_ids",  "block_size", "lora_id",
    "medium",       "lora_name",         "extra_keys", "group_idx",  "kv_cache_spec_kind"};

std::vector<KvField> fields_of(const Fields& fields, const char* key) {
  std::vector<KvField> out;
  for (const std::string& each : fields.texts(key)) {
    const auto found = std::find(names.begin(), names.end(), each);
    if (found == names.end())
      throw Error("kv_events",
                  std::string(key) + ": an event with the field '" + each + "' is not emulated");
    out.push_back(static_cast<KvField>(found - names.begin()));
  }
  return out;
}

/// Whether the word is the second one of two.
bool is_second(const Fields& fields, const char* key, const char* first, const char* second) {
  const std::string given = fields.need_text(key);
  if (given != first && given != second)
    throw Error("kv_events", std::string(key) + ": expected \"" + first + "\" or \"" + second +
                                 "\", found \"" + given + "\"");
  return given == second;
}

}  // namespace

const char* name(KvField field) {
  return names[static_cast<std::size_t>(field)];
}

KvForm kv_form(const Json& given) {
  const Fields fields(given, "kv_events.form");
  KvForm out;
  out.chains_64_bits = is_second(fields, "hash", "sha256_cbor", "sha256_cbor_64bit");
  out.events_are_maps = is_second(fields, "events", "array", "map");
  out.stored = fields_of(fields, "stored");
  out.removed = fields_of(fields, "removed");
  out.kind = fields.text("kind").value_or("");
  fields.finish();
  return out;
}

}  // namespace rooflua::emulate
