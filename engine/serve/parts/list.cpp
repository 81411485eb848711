#include "serve/parts/list.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "serve/parts/adapters/part.h"
#include "serve/parts/clients/part.h"
#include "serve/parts/experts/part.h"
#include "serve/parts/gate/part.h"

namespace rooflua {

namespace {

constexpr PartRow rows[] = {
    {"gate", [](const Core& core) { return core.bindings.admission != nullptr; }, make_gate},
    {"clients", [](const Core& core) { return core.bindings.client != nullptr; }, make_clients},
    {"experts", [](const Core& core) { return core.bindings.experts != nullptr; }, make_experts},
    {"adapters", [](const Core& core) { return core.config.adapters.count > 0; }, make_adapters},
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
  for (const PartRow& row : rows) add(row.is_in(core) ? row.make(core, loop) : nullptr);
}

void Parts::copy(const Parts& others, Core& core, Loop& loop) {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Part* other = others.all[i].get();
    if (rows[i].is_in(core) != (other != nullptr))
      throw Error(std::string(rows[i].name), "a copy has one where the original has one");
    add(other != nullptr ? other->copy(core, loop) : nullptr);
  }
}

void Parts::add(std::unique_ptr<Part> part) {
  list(part.get(), on_time);
  list(part.get(), on_spec);
  list(part.get(), on_request);
  list(part.get(), on_step);
  all.push_back(std::move(part));
}

}  // namespace rooflua
