#include "emulate/kv/batch.h"

#include <nlohmann/json.hpp>

namespace rooflua::emulate {

namespace {

using Field = nlohmann::ordered_json;

Field value_of(KvField field, const KvStored& blocks, const KvForm& form, std::int32_t block_size) {
  switch (field) {
    case KvField::block_hashes:
      return blocks.names;
    case KvField::parent_block_hash:
      return blocks.front ? Field(*blocks.front) : Field();
    case KvField::token_ids:
      return blocks.tokens;
    case KvField::block_size:
      return block_size;
    case KvField::medium:
      return "GPU";
    case KvField::extra_keys:
      return Field::array_t(blocks.names.size(), nullptr);
    case KvField::group_idx:
      return 0;
    case KvField::kv_cache_spec_kind:
      return form.kind;
    case KvField::lora_id:
    case KvField::lora_name:
      break;
  }
  return nullptr;
}

}  // namespace

std::string KvBatch::bytes(double time_s, std::int32_t rank) const {
  static constexpr const char* words[] = {"BlockStored", "BlockRemoved", "AllBlocksCleared"};
  const std::vector<KvField> none;
  Field events = Field::array();
  for (const Event& each : events_) {
    const char* word = words[static_cast<int>(each.kind)];
    const std::vector<KvField>& fields = each.kind == Kind::stored    ? form_->stored
                                         : each.kind == Kind::removed ? form_->removed
                                                                      : none;
    Field event = form_->events_are_maps ? Field{{"type", word}} : Field::array({word});
    for (const KvField field : fields) {
      Field value = value_of(field, each.blocks, *form_, block_size_);
      if (form_->events_are_maps)
        event[name(field)] = std::move(value);
      else
        event.push_back(std::move(value));
    }
    events.push_back(std::move(event));
  }
  std::string out;
  Field::to_msgpack(Field::array({time_s, std::move(events), rank}), out);
  return out;
}

}  // namespace rooflua::emulate
