#pragma once
// How a model asks for its tokens to be drawn: the keys of a generation_config.json, which
// [sampling] of a .toml has too.

#include "base/fields.h"
#include "spec/model.h"

namespace rooflua::hf {

/// Reads temperature, top_p, top_k, min_p and repetition_penalty; what is left out filters nothing.
/// Other keys are left to the caller. @throws Error for a value outside of its range
Sampling sampling_of(const Fields& fields);

}  // namespace rooflua::hf
