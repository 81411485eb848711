#include "serve/parts/list.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace rooflua {

std::unique_ptr<Part> make_adapters(Core& core, Loop& loop);
std::unique_ptr<Part> make_clients(Core& core, Loop& loop);
std::unique_ptr<Part> make_experts(Core& core, Loop& loop);
std::unique_ptr<Part> make_gate(Core& core, Loop& loop);
std::unique_ptr<Part> make_tiers(Core& core, Loop& loop);

namespace {

constexpr PartRow rows[] = {
    {"gate", make_gate},        // a request meets it first
    {"clients", make_clients},  // they are asked when the gate knows of an end
    {"tiers", make_tiers},      // a plan writes and loads
    {"experts", make_experts},  // before its batch is weighed
    {"adapters", make_adapters},
};

template <class Seam>
void list(Part* part, std::vector<Seam*>& seam) {
  if (auto* hears = dynamic_cast<Seam*>(part)) seam.push_back(hears);
}

}  // namespace

std::span<const PartRow> part_order() {
  return rows;
}

void Parts::make(Core& core, Loop& loop) {
  std::vector<std::string_view> asked = parts_of(core.config, core.bindings);
  for (const PartRow& row : rows)
    add(std::erase(asked, row.name) > 0 ? row.make(core, loop) : nullptr);
  if (!asked.empty()) throw Error(std::string(asked.front()), "this program is built without it");
}

void Parts::copy(const Parts& others, Core& core, Loop& loop) {
  const std::vector<std::string_view> asked = parts_of(core.config, core.bindings);
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Part* other = others.all[i].get();
    const bool is_asked = std::find(asked.begin(), asked.end(), rows[i].name) != asked.end();
    if (is_asked != (other != nullptr))
      throw Error(std::string(rows[i].name), "a copy has one where the original has one");
    add(other != nullptr ? other->copy(core, loop) : nullptr);
  }
}

void Parts::add(std::unique_ptr<Part> part) {
  list(part.get(), on_time);
  list(part.get(), on_spec);
  list(part.get(), on_request);
  list(part.get(), on_step);
  list(part.get(), on_flow);
  all.push_back(std::move(part));
}

}  // namespace rooflua
