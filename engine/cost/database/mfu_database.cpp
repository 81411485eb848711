#include "cost/database/mfu_database.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "cost/lookup/choices.h"
#include "cost/lookup/user.h"
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

bool is_reference(const std::string& lookup) {
  return lookup.starts_with("infersim_") || lookup == "blis487";
}

/// Rows may beat the datasheet where a cache held what they read. What they say of other shapes,
/// formats and GPUs may not.
void raise(const Query& query, const Hardware& gpu, Estimate& estimate) {
  if (estimate.evidence < Evidence::extrapolated) return;
  estimate.latency_s = std::max(estimate.latency_s, least_time(query, gpu).time_s());
}

/// Utilisation of another GPU's tables: the latency there times what the work takes at least here
/// over the same there. Below half of it, launches and latencies take the time, and those do not
/// change with the peaks.
Estimate borrowed(const Query& query, const Estimate& lent, const Hardware& there,
                  const Hardware& here) {
  const double there_s = least_time(query, there).time_s();
  const double slower = there_s > 0 ? least_time(query, here).time_s() / there_s : 1;
  Estimate estimate = lent;
  estimate.latency_s *= 1 + (slower - 1) * std::min(1.0, 2 * there_s / lent.latency_s);
  estimate.evidence = worst(lent.evidence, Evidence::stand_in);
  raise(query, here, estimate);
  return estimate;
}

Bound bound_of(const Query& query, const Estimate& work, const std::optional<Hardware>& gpu) {
  if (work.flop <= 0) return Bound::memory;
  if (!gpu) return Bound::compute;
  const LeastTime least = least_time(query, work.flop, work.bytes, *gpu);
  return least.traffic_s > least.arithmetic_s ? Bound::memory : Bound::compute;
}

/// The GPU that hardware.tables_from names; null where it names none.
std::shared_ptr<const MfuDatabase> find_donor(const DatabaseOptions& own,
                                              const std::string& lookup) {
  if (!own.hardware || own.hardware->tables_from.empty()) return nullptr;
  const fs::path folder =
      fs::path(own.hardware->origin).parent_path().parent_path() / own.hardware->tables_from;
  if (!fs::is_regular_file(folder / "hardware.toml")) {
    throw Error(own.hardware->origin,
                "tables_from: there is no " + (folder / "hardware.toml").string());
  }
  DatabaseOptions options;
  options.hardware = hardware_from_toml(folder / "hardware.toml");
  options.hardware->tables_from.clear();  // one step, no chains
  options.path = folder;
  options.engine = own.engine;
  options.lenders = own.lenders;
  const std::vector<std::string> known = lookup_names();
  const bool native = std::find(known.begin(), known.end(), lookup) != known.end();
  if (native && !is_reference(lookup)) options.lookup = lookup;
  return MfuDatabase::open(options);
}

}  // namespace

MfuDatabase::MfuDatabase(DatabaseOptions options, std::shared_ptr<const TableStore> store,
                         std::string lookup, UserLookup user)
    : options_(std::move(options)),
      store_(std::move(store)),
      name_(std::move(lookup)),
      user_(std::move(user)) {
  options_.engine = engine_among(options_.lenders, options_.engine);
  context_ = {store_,
              options_.hardware,
              options_.gpu,
              options_.default_mfu,
              {options_.engine, options_.lenders}};
  lookup_ = user_ ? user_lookup(context_, name_, user_) : make_lookup(name_, context_);
  reference_ = !user_ && is_reference(name_);
  native_ = !user_ && !reference_;
  for (const OpDeclaration& op : ops_)
    modelled_.push_back(
        {op.model == modelled::attention_prefill || op.model == modelled::attention_decode});
}

// Answers -----------------------------------------------------------------------------------------

const Estimate& MfuDatabase::estimate(const Query& query) const {
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

void MfuDatabase::answer(const Query& query, Estimate& estimate) const {
  if (user_) {
    estimate = this->estimate(query);
  } else if (models_attention(query.op)) {
    model_attention(query, estimate);
  } else {
    estimate = price(query, nullptr);
  }
}

std::string MfuDatabase::describe(const Query& query) const {
  RowsUsed trace;
  const Estimate estimate = price(query, &trace);
  return std::string(name(estimate.evidence)) + ": " + words(trace);
}

bool MfuDatabase::models_attention(Op op) const {
  const Modelled& known = modelled_[static_cast<std::size_t>(op)];
  return known.attention && (known.only < 0 ? only_models(op) : known.only != 0);
}

void MfuDatabase::model_attention(const Query& query, Estimate& estimate) const {
  forms_.check(query, false);
  const bool prefill = query.op == Op::attention_prefill || query.op == Op::mla_prefill;
  (prefill ? prefill_ : decode_)(query, *options_.hardware, estimate);
}

Estimate MfuDatabase::price(const Query& query, RowsUsed* trace) const {
  forms_.check(query, reference_);
  Estimate estimate;
  if (donor_is_nearer(query) && from_donor(query, estimate, trace)) return estimate;
  if (from_rows(query, estimate, trace) || from_donor(query, estimate, trace)) return estimate;
  from_model(query, estimate, trace);
  return estimate;
}

bool MfuDatabase::from_rows(const Query& query, Estimate& estimate, RowsUsed* trace) const {
  if (!lookup_->answer(query, estimate, trace)) return false;
  if (reference_) return true;
  if (!(estimate.latency_s > 0) || !std::isfinite(estimate.latency_s)) {
    throw Error("mfu." + std::string(name(query.op)),
                "is too far from every row of the tables to be priced");
  }
  if (native_ && options_.hardware) raise(query, *options_.hardware, estimate);
  estimate.mfu = mfu_of(query, estimate.latency_s);
  return true;
}

bool MfuDatabase::from_donor(const Query& query, Estimate& estimate, RowsUsed* trace) const {
  const MfuDatabase* lender = donor();
  if (lender == nullptr || !options_.hardware || !lender->hardware()) return false;
  if (lender->only_models(query.op)) return false;
  const Estimate& lent = lender->estimate(query);
  if (lent.evidence >= Evidence::modelled) return false;
  estimate = borrowed(query, lent, *lender->hardware(), *options_.hardware);
  estimate.mfu = mfu_of(query, estimate.latency_s);
  if (trace != nullptr)
    trace->remark = "utilisation of " + lender->hardware()->name + ", " + lender->describe(query);
  return true;
}

void MfuDatabase::from_model(const Query& query, Estimate& estimate, RowsUsed* trace) const {
  const std::string op(name(query.op));
  if (!options_.hardware) {
    const std::string where = options_.path.empty() ? "the tables" : options_.path.string();
    throw Error("mfu." + op,
                "no table of this op in " + where + ", and no hardware to model it from");
  }
  if (query.op == Op::gemm) {
    gemms_(query, *options_.hardware, estimate);
  } else {
    estimate = modelled_kernel(query, *options_.hardware);
  }
  if (trace == nullptr) return;
  trace->remark =
      "no table of " + op + ": modelled from the datasheet of " + options_.hardware->name;
}

double MfuDatabase::mfu_of(const Query& query, double latency_s) const {
  const double flop = flop_of(query);
  const double peak_flop_per_s = peak(compute_dtype(query)).in_base_units();
  if (!(flop > 0) || !(peak_flop_per_s > 0)) return std::numeric_limits<double>::quiet_NaN();
  return flop / (latency_s * peak_flop_per_s);
}

void MfuDatabase::add_work(const Query& query, Estimate& estimate) const {
  const OpDeclaration& op = ops_[static_cast<std::size_t>(query.op)];
  estimate.flop = op.flop == nullptr ? 0 : op.flop(query, 0.5);
  estimate.bytes = op.bytes == nullptr ? 0 : op.bytes(query);
  estimate.bound = over_links(query) ? Bound::link : bound_of(query, estimate, options_.hardware);
}

// The GPU that lends ------------------------------------------------------------------------------

bool MfuDatabase::donor_is_nearer(const Query& query) const {
  constexpr double very_shape = 0.5;  // doublings; another engine may have run it
  if (!native_ || donor() == nullptr || !store_->has(query.op)) return false;
  return lookup_->of_other_format(query) && donor()->gap(query) < very_shape;
}

const MfuDatabase* MfuDatabase::donor() const {
  if (options_.donor) return options_.donor.get();
  if (!looked_for_donor_) {
    looked_for_donor_ = true;
    donor_ = find_donor(options_, name_);
  }
  return donor_.get();
}

// What the tables hold ----------------------------------------------------------------------------

double MfuDatabase::gap(const Query& query) const {
  return native_ && !store_->has(query.op) ? std::numeric_limits<double>::infinity()
                                           : lookup_->gap(query);
}

bool MfuDatabase::prices(const Query& query) const {
  if (!native_ || has_model(query) || std::isfinite(gap(query))) return true;
  return donor() != nullptr && std::isfinite(donor()->gap(query));
}

bool MfuDatabase::only_models(Op op) const {
  signed char& known = modelled_[static_cast<std::size_t>(op)].only;
  if (known < 0) {
    known = native_ && options_.hardware && !store_->has(op) &&
            (donor() == nullptr || donor()->only_models(op));
  }
  return known != 0;
}

bool MfuDatabase::includes(Op op, Dtype format, std::string_view part) const {
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

bool MfuDatabase::holds_format(Op op, Dtype format) const {
  const std::vector<Choice> choices = choices_of(*store_, op, format, context_.kernels);
  return !choices.empty() && choices.front().format.alike;
}

bool MfuDatabase::is_rehearsal() const {
  const auto& files = store_->files();
  return std::any_of(files.begin(), files.end(),
                     [](const TableFile& file) { return file.answers && !file.measured; });
}

const std::vector<const KernelTable*>& MfuDatabase::tables() const {
  if (!tables_.empty()) return tables_;
  for (std::size_t i = 0; i < store_->files().size(); ++i) {
    const KernelTable& table = store_->table(i);
    const bool absent = table.rows.empty() && table.published;  // a format that was not published
    if (!absent) tables_.push_back(&table);
  }
  return tables_;
}

FlopPerSecond MfuDatabase::peak(Dtype dtype) const {
  double& known = peaks_[static_cast<std::size_t>(dtype)];
  if (known < 0) known = context_.peak_flop_per_s(dtype);
  return FlopPerSecond(known);
}

// The same tables, asked in another way -----------------------------------------------------------

std::shared_ptr<const MfuDatabase> MfuDatabase::with_lookup(const std::string& name,
                                                            UserLookup user) const {
  return std::make_shared<const MfuDatabase>(options_, store_, name, std::move(user));
}

std::shared_ptr<const MfuDatabase> MfuDatabase::of_engine(const std::string& engine) const {
  DatabaseOptions options = options_;
  options.engine = engine;
  return std::make_shared<const MfuDatabase>(std::move(options), store_, name_, user_);
}

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
  return std::make_shared<const MfuDatabase>(options, std::move(store), options.lookup);
}

std::shared_ptr<const MfuDatabase> MfuDatabase::from_tables(std::vector<KernelTable> tables,
                                                            const DatabaseOptions& options) {
  auto store = std::make_shared<const TableStore>(std::move(tables));
  return std::make_shared<const MfuDatabase>(options, std::move(store), options.lookup);
}

std::vector<std::string> lookup_names() {
  return {"blis487",     "infersim_floor", "infersim_head", "latency_linear",
          "latency_log", "linear",         "log_linear",    "nearest"};
}

}  // namespace rooflua
