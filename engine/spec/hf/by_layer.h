#pragma once
// Formats that differ by layer: groups of layers are cut where a quantization_config names the
// modules of some layers only.

#include <string>
#include <vector>

#include "spec/hf/modules.h"
#include "spec/model.h"

namespace rooflua::hf {

/// Modules that a file gives one format.
struct NamedModules {
  Dtype format = Dtype::bf16;
  std::vector<std::string> names;
};

/// Whether the description says which layers are which: a kind of attention; MLPs of one kind, or
/// dense ones in front of those with experts.
struct Ordered {
  bool attentions = false, mlps = false;
  explicit Ordered(const Model& model);
  bool of(WeightClass each) const;
};

/// Cuts groups of layers whose formats differ from those of their classes. Of two lists that name
/// a module the later one counts.
/// @param rest  formats of modules that no list names
void cut_by_layer(Model& model, const std::vector<NamedModules>& lists, const WeightFormats& rest);

}  // namespace rooflua::hf
