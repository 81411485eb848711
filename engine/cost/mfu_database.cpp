#include "cost/mfu_database.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>

#include "base/error.h"
#include "cost/estimate_cache.h"
#include "cost/lookup/choices.h"
#include "cost/lookup/lookup.h"
#include "cost/lookup/user.h"
#include "cost/model/attention.h"
#include "cost/model/gemm.h"
#include "cost/model/kernel.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Lookup> make_lookup(const std::string& name, const LookupContext& context) {
  if (name == "infersim_floor") return infersim_lookup(context, false);
  if (name == "infersim_head") return infersim_lookup(context, true);
  if (name == "blis487") return blis487_lookup(context);
  const std::vector<std::string> known = lookup_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw Error("mfu.lookup", unknown_name("lookup", name, known));
  }
  return grid_lookup(context, name);
}

const std::string default_lookup = DatabaseOptions().lookup;

bool is_reference(const std::string& lookup) {
  return lookup.starts_with("infersim_") || lookup == "blis487";
}

std::string words(const RowsUsed& trace) {
  std::string text = trace.remark;
  std::size_t shown = 0;
  for (const RowsUsed::Used& used : trace.used) {
    if (++shown > 8) return text + "; ...";
    const KernelRow& row = used.table->rows[static_cast<std::size_t>(used.row)];
    text += text.empty() ? "" : "; ";
    text += used.table->name + ":" + std::to_string(row.line) + " (";
    for (std::size_t axis = 0; axis < used.table->axes.size(); ++axis) {
      char number[40];
      std::snprintf(number, sizeof number, "%s%.15g", axis == 0 ? "" : ", ", row.shape[axis]);
      text += number;
    }
    char latency[40];
    std::snprintf(latency, sizeof latency, ") %.4g us", row.latency_s * 1e6);
    text += latency;
  }
  return text;
}

class Database final : public MfuDatabase {
 public:
  Database(DatabaseOptions options, std::shared_ptr<const TableStore> store, std::string lookup,
           UserLookup user)
      : options_(std::move(options)), store_(std::move(store)), name_(std::move(lookup)) {
    options_.engine = engine_among(options_.lenders, options_.engine);
    context_ = {store_,
                options_.hardware,
                options_.gpu,
                options_.default_mfu,
                {options_.engine, options_.lenders}};
    const bool native = !user;
    lookup_ = user ? user_lookup(context_, name_, user) : make_lookup(name_, context_);
    user_ = std::move(user);
    reference_ = native && is_reference(name_);
    native_ = native && !reference_;
    for (const OpDeclaration& op : declared_ops())
      modelled_.push_back(
          {op.search == RowSearch::attention && op.convention != FlopConvention::none});
  }

  const Estimate& estimate(const Query& query) const override {
    // Modelled attention is as fast to compute as to find again. A decode is hardly ever asked
    // about twice, because its context grows with every step.
    if (models_attention(query.op)) {
      model_attention(query, fresh_);
      add_work(query, fresh_);
      return fresh_;
    }
    forms_.write_key(query, key_);
    EstimateCache::Slot& slot = cache_.slot(key_);
    if (slot.key == key_) return slot.estimate;
    const QueryKey key = key_;                  // a user's lookup may ask questions of its own
    Estimate estimate = price(query, nullptr);  // may throw: the slot stays as it was
    add_work(query, estimate);
    slot.key = key;
    slot.estimate = estimate;
    return slot.estimate;
  }

  void answer(const Query& query, Estimate& estimate) const override {
    if (!native_ && !reference_) {
      estimate = this->estimate(query);
    } else if (models_attention(query.op)) {
      model_attention(query, estimate);
    } else {
      estimate = price(query, nullptr);
    }
  }

  double gap(const Query& query) const override {
    return native_ && !store_->has(query.op) ? std::numeric_limits<double>::infinity()
                                             : lookup_->gap(query);
  }

  bool only_models(Op op) const override {
    signed char& known = modelled_[static_cast<std::size_t>(op)].only;
    if (known < 0) {
      known = native_ && options_.hardware && !store_->has(op) &&
              (donor() == nullptr || donor()->only_models(op));
    }
    return known != 0;
  }

  std::string describe(const Query& query) const override {
    RowsUsed trace;
    const Estimate estimate = price(query, &trace);
    return std::string(rooflua::name(estimate.evidence)) + ": " + words(trace);
  }

  std::shared_ptr<const MfuDatabase> with_lookup(const std::string& lookup) const override {
    return std::make_shared<Database>(options_, store_, lookup, UserLookup());
  }
  std::shared_ptr<const MfuDatabase> with_lookup(const std::string& lookup,
                                                 UserLookup user) const override {
    return std::make_shared<Database>(options_, store_, lookup, std::move(user));
  }

  std::shared_ptr<const MfuDatabase> of_engine(const std::string& engine) const override {
    DatabaseOptions options = options_;
    options.engine = engine;
    return std::make_shared<Database>(std::move(options), store_, name_, user_);
  }

  const std::string& lookup() const override { return name_; }
  const std::optional<Hardware>& hardware() const override { return options_.hardware; }
  Layout layout() const override { return options_.layout; }
  const std::string& engine() const override { return options_.engine; }
  const Lenders& lenders() const override { return options_.lenders; }
  bool includes(Op op, Dtype format, std::string_view part) const override {
    const std::vector<Choice> choices = choices_of(*store_, op, format, context_.kernels);
    if (choices.empty() || !choices.front().format.alike) {
      const bool borrows =
          donor() != nullptr && (choices.empty() || donor()->holds_format(op, format));
      if (borrows) return donor()->includes(op, format, part);
      if (choices.empty()) return false;
    }
    const TableFile& file = store_->files()[choices.front().files.front()];
    return std::find(file.includes.begin(), file.includes.end(), part) != file.includes.end();
  }
  bool holds_format(Op op, Dtype format) const override {
    const std::vector<Choice> choices = choices_of(*store_, op, format, context_.kernels);
    return !choices.empty() && choices.front().format.alike;
  }
  const std::vector<const KernelTable*>& tables() const override {
    if (tables_.empty()) {
      for (std::size_t i = 0; i < store_->files().size(); ++i) {
        const KernelTable& table = store_->table(i);
        const bool absent = table.rows.empty() && table.origin;  // a format that was not published
        if (!absent) tables_.push_back(&table);
      }
    }
    return tables_;
  }
  int tables_loaded() const override { return store_->loaded(); }
  FlopPerSecond peak(Dtype dtype) const override {
    double& known = peaks_[static_cast<std::size_t>(dtype)];
    if (known < 0) known = context_.peak_flop_per_s(dtype);
    return FlopPerSecond(known);
  }

 private:
  bool models_attention(Op op) const {
    const Modelled& known = modelled_[static_cast<std::size_t>(op)];
    return known.attention && (known.only < 0 ? only_models(op) : known.only != 0);
  }

  void model_attention(const Query& query, Estimate& estimate) const {
    forms_.check(query, false);
    const bool prefill = query.op == Op::attention_prefill || query.op == Op::mla_prefill;
    (prefill ? prefill_ : decode_)(query, *options_.hardware, estimate);
  }

  void add_work(const Query& query, Estimate& estimate) const {
    const OpDeclaration& op = ops_[static_cast<std::size_t>(query.op)];
    estimate.flop = op.flop == nullptr ? 0 : op.flop(query, 0.5);
    estimate.bytes = op.bytes == nullptr ? 0 : op.bytes(query);
    estimate.bound = op.over_links ? Bound::link : bound_of(query, estimate.flop, estimate.bytes);
  }

  Bound bound_of(const Query& query, double flop, double bytes) const {
    if (flop <= 0) return Bound::memory;
    if (!options_.hardware) return Bound::compute;
    const LeastTime least = least_time(query, flop, bytes, *options_.hardware);
    return least.traffic_s > least.arithmetic_s ? Bound::memory : Bound::compute;
  }

  Estimate price(const Query& query, RowsUsed* trace) const {
    forms_.check(query, reference_);
    Estimate estimate;
    if (lender_is_nearer(query) && borrow(query, estimate, trace)) return estimate;
    if (lookup_->answer(query, estimate, trace)) {
      if (!reference_) {
        if (!(estimate.latency_s > 0) || !std::isfinite(estimate.latency_s)) {
          throw Error("mfu." + std::string(rooflua::name(query.op)),
                      "is too far from every row of the tables to be priced");
        }
        if (native_) raise(query, estimate);
        estimate.mfu = mfu_of(query, estimate.latency_s);
      }
      return estimate;
    }
    if (borrow(query, estimate, trace)) return estimate;
    if (!options_.hardware) {
      throw Error("mfu." + std::string(rooflua::name(query.op)),
                  "no table of this op in " + where() + ", and no hardware to model it from");
    }
    if (query.op == Op::gemm) {
      gemms_(query, *options_.hardware, estimate);
    } else {
      estimate = modelled_kernel(query, *options_.hardware);
    }
    if (trace != nullptr) {
      trace->remark = "no table of " + std::string(rooflua::name(query.op)) +
                      ": modelled from the datasheet of " + options_.hardware->name;
    }
    return estimate;
  }

  /// Rows may beat the datasheet where a cache held what they read. What they say of other shapes,
  /// formats and GPUs may not.
  void raise(const Query& query, Estimate& estimate) const {
    if (estimate.evidence < Evidence::extrapolated || !options_.hardware) return;
    const double least_s = least_time(query, *options_.hardware).time_s();
    estimate.latency_s = std::max(estimate.latency_s, least_s);
  }

  std::string where() const {
    return options_.path.empty() ? "the tables" : options_.path.string();
  }

  double mfu_of(const Query& query, double latency_s) const {
    const double flop = flop_of(query);
    const double peak_flop_per_s = peak(compute_dtype(query)).in_base_units();
    if (!(flop > 0) || !(peak_flop_per_s > 0)) return std::numeric_limits<double>::quiet_NaN();
    return flop / (latency_s * peak_flop_per_s);
  }

  /// Whether the lender has rows of the very format and shape, where own rows are of another
  /// format.
  bool lender_is_nearer(const Query& query) const {
    constexpr double very_shape = 0.5;  // doublings; another engine may have run it
    if (!native_ || donor() == nullptr || !store_->has(query.op)) return false;
    return lookup_->of_other_format(query) && donor()->gap(query) < very_shape;
  }

  /// Utilisation of another GPU's tables: the latency there times what the work takes at least here
  /// (flop over peak, bytes over bandwidth of memory or links), over the same there. Below half of
  /// either it is launches and latencies that take the time, and those do not change with the
  /// peaks.
  bool borrow(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const MfuDatabase* lender = donor();
    if (lender == nullptr || !options_.hardware || !lender->hardware()) return false;
    if (lender->only_models(query.op)) return false;
    const Estimate& lent = lender->estimate(query);
    if (lent.evidence >= Evidence::modelled) return false;
    const Hardware& own = *options_.hardware;
    const Hardware& other = *lender->hardware();
    const double there_s = least_time(query, other).time_s();
    const double slower = there_s > 0 ? least_time(query, own).time_s() / there_s : 1;
    const double utilisation = there_s / lent.latency_s;
    estimate = lent;
    estimate.latency_s *= 1 + (slower - 1) * std::min(1.0, 2 * utilisation);
    estimate.evidence = worst(lent.evidence, Evidence::stand_in);
    raise(query, estimate);
    estimate.mfu = mfu_of(query, estimate.latency_s);
    if (trace != nullptr)
      trace->remark = "utilisation of " + other.name + ", " + lender->describe(query);
    return true;
  }

  const MfuDatabase* donor() const {
    if (options_.donor) return options_.donor.get();
    if (!looked_for_donor_) {
      looked_for_donor_ = true;
      donor_ = find_donor();
    }
    return donor_.get();
  }

  std::shared_ptr<const MfuDatabase> find_donor() const {
    if (!options_.hardware || options_.hardware->tables_from.empty()) return nullptr;
    const fs::path folder = fs::path(options_.hardware->origin).parent_path().parent_path() /
                            options_.hardware->tables_from;
    if (!fs::is_regular_file(folder / "hardware.toml")) {
      throw Error(options_.hardware->origin,
                  "tables_from: there is no " + (folder / "hardware.toml").string());
    }
    DatabaseOptions options;
    options.hardware = hardware_from_toml(folder / "hardware.toml");
    options.hardware->tables_from.clear();  // one step, no chains
    options.path = folder;
    options.engine = options_.engine;
    options.lenders = options_.lenders;
    options.lookup = is_reference(name_) ? default_lookup : lookup_or_default();
    return MfuDatabase::open(options);
  }
  std::string lookup_or_default() const {
    const std::vector<std::string> known = lookup_names();
    const bool native = std::find(known.begin(), known.end(), name_) != known.end();
    return native ? name_ : default_lookup;
  }

  DatabaseOptions options_;
  std::shared_ptr<const TableStore> store_;
  std::string name_;
  LookupContext context_;
  std::unique_ptr<Lookup> lookup_;
  UserLookup user_;                          // what lookup_ asks, where a user wrote it
  bool reference_ = false, native_ = false;  // InferSim's or BLIS' own policy; one of our own
  std::span<const OpDeclaration> ops_ = declared_ops();
  QuestionForms forms_;
  mutable EstimateCache cache_;
  mutable QueryKey key_;  // of the last question
  mutable Estimate fresh_;
  mutable ModelledAttention prefill_, decode_;
  mutable ModelledGemms gemms_;
  struct Modelled {
    bool attention = false;
    signed char only = -1;  // whether nothing but the model prices the op; -1: not known yet
  };
  mutable std::vector<Modelled> modelled_;  // by op
  mutable std::vector<const KernelTable*> tables_;
  mutable std::vector<double> peaks_ = std::vector<double>(number_formats().size(), -1);
  mutable std::shared_ptr<const MfuDatabase> donor_;
  mutable bool looked_for_donor_ = false;
};

}  // namespace

std::shared_ptr<const MfuDatabase> MfuDatabase::open(const DatabaseOptions& given) {
  DatabaseOptions options = given;
  if (options.path.empty() && options.hardware) {
    options.path = fs::path(options.hardware->origin).parent_path();
  }
  if (given.path.empty() && options.hardware && !fs::is_directory(options.path)) {
    return from_tables({}, options);  // a GPU made up in a script has no folder: all is modelled
  }
  if (options.path.empty()) throw Error("mfu.open", "needs a path of tables, or a GPU");
  if (options.gpu.empty() && options.hardware) options.gpu = options.hardware->name;
  if (!options.hardware && options.layout == Layout::rooflua &&
      fs::is_regular_file(options.path / "hardware.toml")) {
    options.hardware = hardware_from_toml(options.path / "hardware.toml");
  }
  std::vector<TableFile> files = list_tables(options.path, options.layout, options.gpu);
  // Other layouts hold many GPUs, and one of them may have no tables.
  if (files.empty() && !given.path.empty() && options.layout == Layout::rooflua &&
      !fs::exists(options.path / "hardware.toml")) {
    throw Error(options.path.string(),
                "holds no tables in layout rooflua; others are infersim, blis, aic");
  }
  auto store = std::make_shared<const TableStore>(std::move(files));
  return std::make_shared<Database>(options, std::move(store), options.lookup, UserLookup());
}

std::shared_ptr<const MfuDatabase> MfuDatabase::from_tables(std::vector<KernelTable> tables,
                                                            const DatabaseOptions& options) {
  auto store = std::make_shared<const TableStore>(std::move(tables));
  return std::make_shared<Database>(options, std::move(store), options.lookup, UserLookup());
}

std::vector<std::string> lookup_names() {
  return {"blis487",     "infersim_floor", "infersim_head", "latency_linear",
          "latency_log", "linear",         "log_linear",    "nearest"};
}

}  // namespace rooflua
