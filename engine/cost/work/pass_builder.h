#pragma once
// Collects the operations of a forward pass with the shapes of one rank: what forward_pass.cpp adds
// them by, and what the file of a kind of layers says (spec/declared).

#include <string>
#include <string_view>
#include <vector>

#include "cost/ops/declaration.h"
#include "cost/work/layer_op.h"
#include "spec/deployment.h"
#include "spec/model.h"

namespace rooflua {

class PassBuilder {
 protected:
  PassBuilder(const Model& model, const Deployment& deployment)
      : model_(model),
        formats_(deployment.formats),
        deployment_(deployment),
        tp_(deployment.widths.tp),
        widths_(deployment.widths),
        hidden_(model.hidden_size),
        act_(bytes_per_element(model.dtype)),
        kv_dtype_(deployment.kv_dtype) {}

  void begin_kind(std::size_t index, const std::string& name) {
    kind_ = static_cast<int>(index);
    suffix_ = name.empty() ? "" : "@" + name;
  }
  void end_kind() {
    kind_ = -1;
    suffix_.clear();
    take_formats({});
  }
  /// Layers store and keep what they have in formats of their own.
  void take_formats(const LayerFormats& layers) {
    formats_ = deployment_.formats_in(layers);
    kv_dtype_ = deployment_.kv_in(layers);
  }
  /// Bytes of an element of a cached vector of so many.
  double kv_bytes_of(double width) const { return cached_bytes(kv_dtype_, width); }
  Dtype format(WeightClass each) const { return formats_[each]; }

  LayerOp& add(std::string name, Op op, double count);
  LayerOp& gemm(std::string name, double k, double n, double count, Dtype dtype,
                Rows rows = Rows::tokens, double groups = 1);
  void elementwise(std::string name, double count, double bytes_per_row,
                   std::string_view kernel = {});
  void norm(std::string name, double count);
  void all_reduce(std::string name, double count, double bytes_per_row);
  void attend(Op op, Rows rows, double count, double heads, double kv_heads, double head_dim,
              double kv_bytes);
  /// What the file of a kind says.
  void declared_layers(const declared::Kind& kind, double count);

  const Model& model_;
  WeightFormats formats_;  // of the layers that are added
  const Deployment& deployment_;
  double tp_;
  Widths widths_;
  double hidden_, act_;
  Dtype kv_dtype_;
  int kind_ = -1;
  Rows rows_ = Rows::tokens;  // that operations of all tokens see
  std::string suffix_;
  std::vector<LayerOp> ops_;

 private:
  void declared_gemm(const declared::Kind& kind, const declared::Operation& op, double count);
  void declared_work(const declared::Operation& op, double part, double count);
};

}  // namespace rooflua
