#pragma once
// What a page draws of a run besides its summary.

#include "base/json.h"

namespace rooflua {

/// What --json does not hold; each may be missing.
struct VariantDrawing {
  Json sketch;     // of measure/record/sketch.h
  Json breakdown;  // {steps, rows: [{name, kind, bound, evidence, share}]} of sampled steps
  Json plan;       // of measure/html/plan.h
};

}  // namespace rooflua
