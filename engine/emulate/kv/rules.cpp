#include "emulate/kv/rules.h"

#include "base/fields.h"

namespace rooflua::emulate {

KvServed kv_served(const Json& given, bool replicas_are_engines) {
  const Fields fields(given, "kv_events");
  KvServed out;
  out.events = fields.need_text("events");
  out.replay = fields.text("replay").value_or("");
  out.topic = fields.need_text("topic");
  out.rules.seed = fields.need_text("seed");
  out.rules.block_tokens = fields.need_integer("block_tokens");
  out.rules.replicas_are_engines = replicas_are_engines;
  fields.need_table("form");
  out.rules.form = kv_form(*fields.object().find("form"));
  fields.finish();
  return out;
}

}  // namespace rooflua::emulate
