#include "spec/declared/read_kind.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "spec/declared/lua_file.h"
#include "spec/layers.h"

namespace rooflua::declared {

namespace fs = std::filesystem;

namespace {

constexpr double most = 1e15;
constexpr int most_items = 64;

/// The word of a vocabulary at a key; `otherwise` where there is none.
template <class Words, class Value>
Value word_at(const Fields& fields, std::string_view key, const Words& words, Value otherwise) {
  const auto text = fields.text(key);
  if (!text) return otherwise;
  const auto value = value_named(words, *text);
  if (!value) throw Error(fields.where(key), unknown_name("word", *text, names_of(words)));
  return *value;
}

double number_at(const Fields& fields, std::string_view key, double least, double otherwise) {
  const auto found = fields.number(key);
  const double value = found.value_or(otherwise);
  if (value >= least && value <= most) return value;
  throw Error(fields.where(key), "expected " + json_number(least) + " to 1e15, found " +
                                     (found ? json_number(value) : "nothing"));
}

int whole_at(const Fields& fields, std::string_view key, int least, int otherwise) {
  const int value = fields.small_integer(key).value_or(otherwise);
  if (value >= least) return value;
  throw Error(fields.where(key), "expected a whole number of " + std::to_string(least) +
                                     " or more, found " +
                                     (fields.has(key) ? std::to_string(value) : "nothing"));
}

// Parameters --------------------------------------------------------------------------------------

Json figure_of(const ModelFigures& model) {
  Json out = Json::object();
  out["layers"] = model.layers;
  out["hidden_size"] = model.hidden_size;
  out["heads"] = model.heads;
  out["kv_heads"] = model.kv_heads;
  out["head_dim"] = model.head_dim;
  out["intermediate_size"] = model.intermediate_size;
  out["attention_bias"] = model.attention_bias;
  return out;
}

/// The value that a parameter has where a group of layers states none: a text names a figure of the
/// model.
Json default_of(const Fields& own, const Json& model) {
  const Json* found = own.find("default");
  if (found == nullptr) return {};
  if (!found->is_text() || own.has("values")) return *found;
  const Json* figure = model.find(found->text());
  if (figure != nullptr) return *figure;
  std::vector<std::string> known;
  for (const Json::Member& each : model.members()) known.push_back(each.key);
  throw Error(own.where("default"), unknown_name("figure of a model", found->text(), known));
}

void check_number(const Fields& own, const Json& value, const std::string& where) {
  if (!value.is_number() || !std::isfinite(value.number()))
    throw Error(where, "expected a number, found " + std::string(kind_name(value)));
  const double least = number_at(own, "min", -most, 0),
               largest = number_at(own, "max", -most, most);
  if (value.number() < least || value.number() > largest)
    throw Error(where, "expected " + json_number(least) + " to " + json_number(largest) +
                           ", found " + json_number(value.number()));
  if (!own.boolean("fraction", false) && value.number() != std::floor(value.number()))
    throw Error(where, "expected a whole number, found " + json_number(value.number()));
}

/// Checks a value against the declaration of its parameter.
void check_parameter(const Fields& own, const Json& value, const std::string& where) {
  if (own.has("values")) {
    const std::vector<std::string> values = own.texts("values");
    if (value.is_text() && std::find(values.begin(), values.end(), value.text()) != values.end())
      return;
    throw Error(where, "expected one of " + joined(values, ", "));
  }
  const Json* otherwise = own.find("default");
  if (otherwise != nullptr && otherwise->is_boolean()) {
    if (!value.is_boolean()) throw Error(where, "expected true or false");
    return;
  }
  check_number(own, value, where);
}

Json parameters_of(const Fields& file, const Fields& group, const Json& model) {
  Json out = Json::object();
  const auto declared = file.table("parameters");
  if (!declared) return out;
  for (const Json::Member& each : declared->object().members()) {
    const Fields own = declared->need_table(each.key);
    for (const char* key : {"unit", "doc", "source"}) own.text(key);
    for (const char* key : {"min", "max", "fraction", "default", "values"}) own.allow(key);
    own.finish();
    constexpr std::string_view words[] = {"kind",         "layers",  "visits",
                                          "prefill_tail", "formats", "releases"};
    if (std::find(std::begin(words), std::end(words), each.key) != std::end(words))
      throw Error(declared->where(each.key), "is a word of every group of layers");
    const Json* stated = group.find(each.key);
    const Json value = stated != nullptr ? *stated : default_of(own, model);
    const std::string where =
        stated != nullptr ? group.where(each.key) : declared->where(each.key + ".default");
    if (value.is_null())
      throw Error(group.where(each.key), "is missing, a parameter of the kind without a default");
    check_parameter(own, value, where);
    out[each.key] = value;
  }
  return out;
}

// Weights and caches ------------------------------------------------------------------------------

/// The items of what a function returned.
std::vector<Fields> list_of(const Json& returned, const std::string& shown, const char* what) {
  std::vector<Fields> out;
  if (returned.is_object() && returned.members().empty()) return out;
  if (!returned.is_array())
    throw Error(at(shown, returned.line), std::string(what) + ": expected a list");
  const Json::Array& items = returned.items();
  if (items.size() > most_items)
    throw Error(at(shown, returned.line),
                std::string(what) + ": more than " + std::to_string(most_items) + " of them");
  for (std::size_t i = 0; i < items.size(); ++i)
    out.emplace_back(items[i], shown, std::string(what) + "[" + std::to_string(i + 1) + "]");
  return out;
}

Weight weight_of(const Fields& fields) {
  Weight out;
  out.name = fields.need_text("name");
  const std::string of = fields.need_text("class");
  if (of != "small") {
    std::vector<std::string> known = names_of(weight_class_words);
    const auto found = value_named(weight_class_words, of);
    known.emplace_back("small");
    const bool of_a_layer = found && *found != WeightClass::lm_head &&
                            *found != WeightClass::embedding && *found != WeightClass::experts;
    if (!of_a_layer) throw Error(fields.where("class"), unknown_name("class", of, known));
    out.weight_class = static_cast<int>(*found);
  }
  out.rows = number_at(fields, "rows", 1, of == "small" ? 1 : 0);
  out.columns = number_at(fields, "columns", 1, 0);
  out.split = word_at(fields, "split", split_words, Split::none);
  out.heads = whole_at(fields, "heads", 0, 0);
  out.bias = fields.boolean("bias", false);
  if (out.split == Split::heads)
    throw Error(fields.where("split"), "a weight is divided by columns or rows, in `heads` pieces");
  fields.finish();
  return out;
}

Cache cache_of(const Fields& fields) {
  Cache out;
  fields.need_text("kind");
  out.kind = word_at(fields, "kind", cache_words, CacheKind::token);
  out.elements = number_at(fields, "elements", 1e-6, 0);
  if (const auto format = fields.text("format"); format && *format != "kv")
    out.format = require_dtype(*format, fields.where("format"));
  if (out.kind == CacheKind::state && !out.format)
    throw Error(fields.where("format"), "is missing: a state has a format of its own, as fp32");
  if (out.kind == CacheKind::window) out.window = whole_at(fields, "window", 1, 0);
  if (out.kind == CacheKind::state) out.inputs = whole_at(fields, "inputs", 0, 0);
  out.every = number_at(fields, "every", 1, 1);
  out.split = word_at(fields, "split", split_words, Split::none);
  if (out.split == Split::rows || out.split == Split::columns)
    throw Error(fields.where("split"), "a cache is divided by heads, or is whole on every rank");
  out.heads = whole_at(fields, "heads", 0, 0);
  if (out.kind == CacheKind::token) out.on_host = fields.boolean("on_host", false);
  fields.finish();
  return out;
}

// Operations --------------------------------------------------------------------------------------

Bound bound_of(const Fields& fields) {
  Bound out;
  for (const BoundForm form : {BoundForm::window, BoundForm::top, BoundForm::chunk}) {
    const std::string_view key = bound_words[static_cast<std::size_t>(form)].name;
    if (!fields.has(key)) continue;
    if (out.form != BoundForm::none) throw Error(fields.where(key), "one bound, not two");
    out = {form, whole_at(fields, key, 1, 0)};
  }
  fields.finish();
  return out;
}

/// Adds what a sum of symbols says to `into`, and takes its bound.
void add_sum(const Fields& fields, std::string_view key, Sum& into, Bound& bound) {
  const Json* given = fields.find(key);
  if (given == nullptr) return;
  if (given->is_number()) {
    into[0] = number_at(fields, key, 0, 0);
    return;
  }
  for (const Fields& term : fields.need_table(key).tables("terms")) {
    const Symbol symbol = word_at(term, "symbol", symbol_words, Symbol::one);
    if (const auto own = term.table("bound")) {
      const Bound stated = bound_of(*own);
      if (bound.form != BoundForm::none && stated != bound)
        throw Error(fields.where(key),
                    "pairs of two different bounds: make two operations of them");
      bound = stated;
    }
    into[static_cast<std::size_t>(symbol)] += term.need_number("factor");
  }
  for (const double factor : into) {
    if (std::isfinite(factor) && factor >= 0 && factor <= most) continue;
    throw Error(fields.where(key), "expected factors of 0 to 1e15, found " + json_number(factor));
  }
}

/// A term of pairs or of a context alone, such as `pairs` of attention.
Bound bound_at(const Fields& fields) {
  Sum sum{};
  Bound bound;
  if (!fields.has("pairs"))
    throw Error(fields.where("pairs"), "is missing; expected ask.pairs{...}");
  add_sum(fields, "pairs", sum, bound);
  Sum one{};
  one[static_cast<std::size_t>(Symbol::pairs)] = 1;
  if (sum != one) throw Error(fields.where("pairs"), "expected ask.pairs{...} as it is");
  return bound;
}

/// Weights that a GEMM multiplies at once: alike in inputs, class and division.
void read_gemm(const Fields& fields, const std::vector<Weight>& weights, Operation& out) {
  for (const std::string& name : fields.texts("weights")) {
    const auto found = std::find_if(weights.begin(), weights.end(),
                                    [&](const Weight& each) { return each.name == name; });
    std::vector<std::string> known;
    for (const Weight& each : weights) known.push_back(each.name);
    if (found == weights.end()) throw Error(fields.where(""), unknown_name("weight", name, known));
    out.weights.push_back(static_cast<std::size_t>(found - weights.begin()));
    const Weight& first = weights[out.weights.front()];
    if (found->rows != first.rows || found->weight_class != first.weight_class ||
        (found->split == Split::rows) != (first.split == Split::rows))
      throw Error(fields.where(""), "weights " + first.name + " and " + name +
                                        " differ in rows, class or division by rows");
  }
  if (out.weights.empty())
    throw Error(fields.where(""), "ask.gemm names no weights: { \"q\", ... }");
  const Weight& first = weights[out.weights.front()];
  if (first.weight_class < 0)
    throw Error(fields.where(""),
                "weight " + first.name + " is of the class small: no GEMM reads it");
  if (out.name.empty()) out.name = first.name;
  constexpr Word<int> seen[] = {
      {0, "tokens", ""}, {1, "prefill_tokens", ""}, {2, "decode_tokens", ""}};
  out.rows = word_at(fields, "rows", seen, 0);
}

void read_attention(const Fields& fields, Operation& out) {
  out.bound = bound_at(fields);
  out.heads = whole_at(fields, "heads", 1, 0);
  out.kv_heads = whole_at(fields, "kv_heads", 1, out.heads);
  out.head_dim = whole_at(fields, "dims", 1, 0);
  out.v_head_dim = whole_at(fields, "value_dims", 1, out.head_dim);
  out.one_vector = fields.boolean("one_vector", false);
  if (out.heads % out.kv_heads != 0)
    throw Error(fields.where("kv_heads"), "do not divide the heads");
}

void read_work(const Fields& fields, bool computes, Operation& out) {
  add_sum(fields, "bytes", out.bytes, out.bound);
  if (computes) {
    if (!fields.has("flop")) throw Error(fields.where("flop"), "is missing; expected a sum");
    add_sum(fields, "flop", out.flop, out.bound);
    if (const auto format = fields.text("format"))
      out.format = require_dtype(*format, fields.where("format"));
    if (fields.has("mfu")) out.mfu = number_at(fields, "mfu", 1e-4, 0);
    if (out.mfu > 1) throw Error(fields.where("mfu"), "expected at most 1");
    return;
  }
  if (!fields.has("bytes")) throw Error(fields.where("bytes"), "is missing; expected a sum");
  constexpr Word<bool> places[] = {{false, "gpu", ""}, {true, "host", ""}};
  out.from_host = word_at(fields, "from", places, false);
}

Operation operation_of(const Fields& fields, std::string_view of,
                       const std::vector<Weight>& weights) {
  Operation out;
  const std::string op = fields.text("op").value_or("");
  fields.allow("line");
  out.name = fields.text("name").value_or("");
  if (op != "gemm" && !fields.texts("weights").empty())
    throw Error(fields.where(""), "ask." + op + " takes keys alone: { name = ... }");
  if (op == "gemm") {
    read_gemm(fields, weights, out);
  } else if (op == "attention" && of == "attention") {
    out.kind = OpKind::attention;
    read_attention(fields, out);
  } else if (op == "elementwise") {
    out.kind = OpKind::elementwise;
    out.cache_elements = number_at(fields, "cache_elements", 0, 0);
    out.elements = number_at(fields, "elements", out.cache_elements > 0 ? 0 : 1e-6, 0);
    if (fields.has("kernel")) {
      constexpr Word<int> kernels[] = {{0, "norm", ""}, {1, "rope", ""}, {2, "silu_mul", ""}};
      out.kernel = kernels[word_at(fields, "kernel", kernels, 0)].name;
    }
  } else if (op == "compute" || op == "read") {
    out.kind = OpKind::work;
    read_work(fields, op == "compute", out);
  } else {
    throw Error(fields.where(""), op == "attention" ? "an MLP has no attention"
                                                    : "expected what ask.gemm and others return");
  }
  if (out.name.empty() && out.kind != OpKind::attention) fields.need_text("name");
  out.split = word_at(fields, "split", split_words, Split::none);
  if (out.split == Split::columns || out.split == Split::rows)
    throw Error(fields.where("split"),
                "an operation is divided by heads, or is whole on each rank");
  if (out.kind != OpKind::attention) out.heads = whole_at(fields, "heads", 0, 0);
  fields.finish();
  return out;
}

void check(const Kind& kind) {
  const auto fail = [&](const std::string& problem) { throw Error(kind.file, problem); };
  int attentions = 0;
  for (const Operation& each : kind.operations)
    attentions += each.kind == OpKind::attention ? 1 : 0;
  if (attentions > 1) fail("more than one ask.attention: make the others ask.compute");
  for (std::size_t i = 0; i < kind.weights.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      if (kind.weights[i].name == kind.weights[k].name)
        fail("two weights are called " + kind.weights[i].name);
    const bool read =
        std::any_of(kind.operations.begin(), kind.operations.end(), [&](const Operation& each) {
          return std::find(each.weights.begin(), each.weights.end(), i) != each.weights.end();
        });
    if (!read && kind.weights[i].weight_class >= 0)
      fail("no ask.gemm reads the weight " + kind.weights[i].name);
  }
  const auto is_work = [](const Operation& each) { return each.kind == OpKind::work; };
  if (kind.runs_as_full &&
      (attentions == 0 || std::any_of(kind.operations.begin(), kind.operations.end(), is_work)))
    fail("kernels: \"full\" is for a kind with ask.attention and without ask.compute and ask.read");
  int window = 0;
  for (const Cache& each : kind.caches) {
    if (each.window > 0 && window > 0 && each.window != window) fail("windows of two lengths");
    window = std::max(window, each.window);
  }
}

}  // namespace

KindPointer read_kind(const fs::path& path, std::string_view of, const Fields& group,
                      const ModelFigures& model) {
  auto out = std::make_shared<Kind>();
  out->name = path.stem().string();
  out->file = path.string();
  const LuaFile file(path, out->file);
  const Json table = file.table(), figures = figure_of(model);
  const Fields fields(table, out->file);
  out->doc = fields.text("doc").value_or("");
  fields.text("source");
  constexpr Word<bool> runs_as[] = {{true, "full", ""}};
  out->runs_as_full = word_at(fields, "kernels", runs_as, false);
  out->parameters = parameters_of(fields, group, figures);
  for (const char* key : {"weights", "cache", "ops"}) fields.allow(key);
  fields.finish();
  const Json weights = file.call("weights", out->parameters, figures);
  for (const Fields& each : list_of(weights, out->file, "weights"))
    out->weights.push_back(weight_of(each));
  if (of == "attention") {
    const Json caches = file.call("cache", out->parameters, figures);
    for (const Fields& each : list_of(caches, out->file, "cache"))
      out->caches.push_back(cache_of(each));
  } else if (file.has("cache")) {
    throw Error(out->file, "an MLP keeps nothing of a request: `cache` belongs to attention");
  }
  const Json ops = file.call("ops", out->parameters, figures);
  for (const Fields& each : list_of(ops, out->file, "ops"))
    out->operations.push_back(operation_of(each, of, out->weights));
  check(*out);
  return out;
}

}  // namespace rooflua::declared
