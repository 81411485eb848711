#include "serve/adapters/config.h"

#include "base/error.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {

using enum Stated;
using Config = AdapterSlotsConfig;

constexpr double most_slots = 65536;

constexpr auto slot_rows = rows_of<Config>(
    figure<&Config::slots>("slots", "adapters", 0, most_slots, open,
                           "different adapters in a step, and in the GPU"),
    figure<&Config::cpu_slots>("cpu_slots", "adapters", 0, most_slots, open,
                               "adapters in the memory of the host"),
    word<&Config::load, adapter_load_words>("load", open, "when an adapter is copied into a slot"));

}  // namespace

template <>
const FigureTable& figures<AdapterSlotsConfig>() {
  static const auto table =
      table_of<Config>("AdapterSlotsConfig", "Adapters at a replica.", slot_rows);
  return table;
}

void validate(const AdapterSlotsConfig& config, std::int32_t count, const std::string& where) {
  const auto fail = [&](const char* key, const std::string& text) {
    throw Error(where + key, text);
  };
  if (config.slots == 0) return;
  if (config.cpu_slots < config.slots)
    fail("cpu_slots", "found " + std::to_string(config.cpu_slots) +
                          "; at least slots = " + std::to_string(config.slots) + " is right");
  for (const auto& [list, key] :
       {std::pair{&config.slot_s, "slot_s"}, {&config.fetch_s, "fetch_s"}}) {
    if (list->size() != static_cast<std::size_t>(count))
      fail(key, "expected " + std::to_string(count) + " times, one per adapter, found " +
                    std::to_string(list->size()));
    for (const double each : *list)
      if (!(each >= 0 && each <= 1e6)) fail(key, "expected seconds from 0 to 1e6");
  }
}

}  // namespace rooflua
