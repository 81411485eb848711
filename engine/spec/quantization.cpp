#include "spec/quantization.h"

#include <string>

#include "base/error.h"

namespace rooflua {

namespace {

std::optional<Dtype> of_bits(std::int64_t bits, bool floating) {
  if (bits == 8) return floating ? Dtype::fp8 : Dtype::int8;
  if (bits == 4) return floating ? Dtype::fp4 : Dtype::int4;
  if (bits == 16) return Dtype::bf16;
  return std::nullopt;
}

/// A format whose scales hold for blocks of weights, 128 by 128 in practice, not for a tensor.
Dtype in_blocks(Dtype dtype) {
  return dtype == Dtype::fp8 ? Dtype::fp8_block : dtype;
}

/// compressed-tensors: config_groups.<name>.weights {num_bits, type}.
std::optional<Dtype> of_groups(const Fields& quantization) {
  const auto groups = quantization.table("config_groups");
  if (!groups) return std::nullopt;
  for (const Json::Member& group : groups->object().members()) {
    const auto weights = groups->need_table(group.key).table("weights");
    if (!weights) continue;
    const auto bits = weights->integer("num_bits");
    if (!bits) continue;
    const auto dtype = of_bits(*bits, weights->text("type").value_or("int") == "float");
    return dtype && weights->text("strategy").value_or("") == "block" ? in_blocks(*dtype) : dtype;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dtype> quantised_weights(const Fields& config) {
  const std::string_view key = config.first_of({"quantization_config", "compression_config"});
  if (key.empty()) return std::nullopt;
  const Fields quantization = config.need_table(key);
  if (const auto dtype = of_groups(quantization)) return dtype;
  const std::string_view method_key = quantization.first_of({"quant_algo", "quant_method"});
  const std::string method = method_key.empty() ? "" : quantization.text(method_key).value_or("");
  if (const auto dtype = parse_dtype(method))  // fp8, fbgemm_fp8, mxfp4, NVFP4
    return quantization.has("weight_block_size") ? in_blocks(*dtype) : dtype;
  for (const char* bits_key : {"bits", "w_bit", "weight_bits"}) {
    if (const auto bits = quantization.integer(bits_key)) {  // gptq, awq
      if (const auto dtype = of_bits(*bits, false)) return dtype;
    }
  }
  if (quantization.boolean("load_in_4bit").value_or(false)) return Dtype::int4;  // bitsandbytes
  if (quantization.boolean("load_in_8bit").value_or(false)) return Dtype::int8;
  throw Error(quantization.where("quant_method"),
              "no weight format found for method '" + method +
                  "' (known: fp8, compressed-tensors, gptq, awq, bitsandbytes, mxfp4, modelopt)");
}

}  // namespace rooflua
