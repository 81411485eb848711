#pragma once
// What the classes of released models add to a config.json: defaults that the file leaves out, and
// properties that no key states.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace rooflua::hf {

struct Class {
  std::string_view type;          // model_type
  std::string_view architecture;  // "Qwen2" of "Qwen2ForCausalLM"
  unsigned traits;                // of the list below

  bool has(unsigned trait) const { return (traits & trait) != 0; }
};

/// The MLP has no gate: up and down.
inline constexpr unsigned no_gate = 1;
/// The LM head is the embedding where the file does not say.
inline constexpr unsigned tied = 2;
/// Without a width of their own the experts are as wide as intermediate_size.
inline constexpr unsigned wide_experts = 4;
/// A learned table of positions, a row for each token of the longest request.
inline constexpr unsigned positions = 8;
/// A window needs use_sliding_window.
inline constexpr unsigned window_if_asked = 16;
/// q, k and v have biases where the file does not say.
inline constexpr unsigned qkv_bias = 32;
/// intermediate_size counts gate and up together.
inline constexpr unsigned halved_width = 64;
/// The MLP is four times as wide as the model where the file does not say.
inline constexpr unsigned fourfold_width = 128;
/// One KV head where multi_query is not false.
inline constexpr unsigned one_kv_head = 256;

/// By model_type, else by the first of `architectures`; nothing for a class that is not listed.
/// @throws Error naming `architectures` where both are listed and differ in a trait
const Class* class_of(const Fields& config);

/// The number that the class has where the file leaves a key out; nothing without one.
std::optional<int> class_number(const Class* model_class, std::string_view key);

/// @param ignored  keys that were taken out on purpose
/// @throws Error for a key that every release of the class states, and this file does not
void check_stated(const Class* model_class, const Fields& config,
                  const std::vector<std::string>& ignored);

}  // namespace rooflua::hf
