#include "serve/parts/list.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace rooflua {

std::unique_ptr<Part> make_adapters(Core& core, Loop& loop);
std::unique_ptr<Part> make_clients(Core& core, Loop& loop);
std::unique_ptr<Part> make_encoder(Core& core, Loop& loop);
std::unique_ptr<Part> make_experts(Core& core, Loop& loop);
std::unique_ptr<Part> make_fleet(Core& core, Loop& loop);
std::unique_ptr<Part> make_stations(Core& core, Loop& loop);
std::unique_ptr<Part> make_gate(Core& core, Loop& loop);
std::unique_ptr<Part> make_split(Core& core, Loop& loop);
std::unique_ptr<Part> make_tiers(Core& core, Loop& loop);

namespace {

constexpr PartMaker rows[] = {
    {"stations", make_stations},  // a client sends before it meets a gate, and sees ends of all
    {"gate", make_gate},          // a request meets it first
    {"fleet", make_fleet, true},  // requests wait for a replica behind the gate
    {"encoder", make_encoder},    // or for an encoder
    {"split", make_split},        // and then for two of them
    {"clients", make_clients},    // they are asked when the gate knows of an end
    {"tiers", make_tiers},        // a plan writes and loads
    {"experts", make_experts},    // before its batch is weighed
    {"adapters", make_adapters},
};

template <class Seam>
void list_those(const std::vector<std::unique_ptr<Part>>& all, std::vector<Seam*>& seam) {
  seam.clear();
  for (const auto& part : all)
    if (auto* hears = dynamic_cast<Seam*>(part.get())) seam.push_back(hears);
}

/// Whether one is made, and takes its name from those that are left to make.
bool takes_name(const PartMaker& row, const ClusterConfig& config,
                std::vector<std::string_view>& left) {
  const Json* settings = config.asked.find(row.name);
  return std::erase(left, row.name) > 0 || (settings != nullptr && settings->is_object());
}

}  // namespace

std::span<const PartMaker> part_order() {
  return rows;
}

void Parts::make(Core& core, Loop& loop) {
  std::vector<std::string_view> asked = parts_of(core.config, core.bindings);
  for (const PartMaker& row : rows)
    all.push_back(takes_name(row, core.config, asked) ? row.make(core, loop) : nullptr);
  list();
  if (!asked.empty()) throw Error(std::string(asked.front()), "this program is built without it");
}

void Parts::copy(const Parts& others, Core& core, Loop& loop) {
  std::vector<std::string_view> asked = parts_of(core.config, core.bindings);
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Part* other = others.all[i].get();
    if (takes_name(rows[i], core.config, asked) != (other != nullptr) && !rows[i].begins_later)
      throw Error(std::string(rows[i].name), "a copy has one where the original has one");
    all.push_back(other != nullptr ? other->copy(core, loop) : nullptr);
  }
  list();
}

void Parts::rebind(const Bindings& before) {
  for (const auto& part : all)
    if (part) part->rebind(before);
}

Picoseconds Parts::due(Picoseconds other) {
  for (OnTime* part : on_time) other = std::min(other, part->due(other));
  // Once more: what a part waits for may be due in one behind it.
  for (OnTime* part : on_time) other = std::min(other, part->due(other));
  next = never;
  for (OnTime* part : on_time) next = std::min(next, part->earliest());
  return other;
}

Part& Parts::demand(std::string_view name, Core& core, Loop& loop) {
  const auto row = std::find_if(std::begin(rows), std::end(rows),
                                [&](const PartMaker& each) { return each.name == name; });
  if (row == std::end(rows)) throw Error(std::string(name), "this program is built without it");
  std::unique_ptr<Part>& own = all[static_cast<std::size_t>(row - std::begin(rows))];
  if (own == nullptr) {
    own = row->make(core, loop);
    list();
    next = 0;
  }
  return *own;
}

void Parts::list() {
  list_those(all, on_time);
  list_those(all, on_spec);
  list_those(all, on_request);
  list_those(all, on_step);
  list_those(all, on_flow);
  list_those(all, on_kv);
}

}  // namespace rooflua
