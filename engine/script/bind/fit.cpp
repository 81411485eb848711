// Minimising a Lua function: the derivative-free algorithms of NLopt that draw no random numbers.

#include <nlopt.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

struct Search {
  lua_State* L = nullptr;
  nlopt_opt algorithm = nullptr;
  int function = 0;     // position of the objective on the stack
  int evaluations = 0;  // how often the objective was called
  int hopeless = 0;     // how many of these calls gave no finite number
  double best = HUGE_VAL;
  std::vector<double> best_at;
  std::string problem;  // the error that the objective raised; "" if none
};

/// The value of an evaluation without a finite number: larger than any error that a fit can have.
constexpr double hopeless = 1e9;

double evaluate(unsigned n, const double* x, double*, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!search.problem.empty()) return hopeless;
  lua_State* L = search.L;
  lua_pushvalue(L, search.function);
  lua_createtable(L, static_cast<int>(n), 0);
  for (unsigned i = 0; i < n; ++i) {
    lua_pushnumber(L, x[i]);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  ++search.evaluations;
  double value = hopeless;
  if (lua_pcall(L, 1, 1, 0) != 0) {
    const char* message = lua_tostring(L, -1);
    search.problem = message == nullptr ? "the objective failed" : message;
    nlopt_force_stop(search.algorithm);
  } else if (lua_isnumber(L, -1) != 0 && std::isfinite(lua_tonumber(L, -1))) {
    value = lua_tonumber(L, -1);
  } else {
    ++search.hopeless;
  }
  lua_pop(L, 1);
  if (value < search.best) {
    search.best = value;
    search.best_at.assign(x, x + n);
  }
  return value;
}

nlopt_algorithm algorithm_of(const std::string& name) {
  const std::vector<std::string> known{"bobyqa", "direct", "nelder_mead", "sbplx"};
  if (name == "bobyqa") return NLOPT_LN_BOBYQA;
  if (name == "direct") return NLOPT_GN_DIRECT_L;
  if (name == "nelder_mead") return NLOPT_LN_NELDERMEAD;
  if (name == "sbplx") return NLOPT_LN_SBPLX;
  throw Error("fit: algorithm", unknown_name("algorithm", name, known));
}

std::vector<double> numbers_at(lua_State* L, int index, const char* what) {
  std::vector<double> out;
  const int count = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    out.push_back(check_number(L, -1, what));
    lua_pop(L, 1);
  }
  return out;
}

/// minimize(function, start, lower, upper, algorithm, evaluations, tolerance, step)
///   -> {value...}, smallest, evaluations, converged, evaluations without a finite number
///   or nil, error      if the function raised an error
/// `converged` is false if the search ended because its evaluations were used up.
int minimize(lua_State* L) {
  lua_settop(L, 8);
  Search search;
  search.L = L;
  search.function = 1;
  std::vector<double> x = numbers_at(L, 2, "start");
  const std::vector<double> lower = numbers_at(L, 3, "lower"), upper = numbers_at(L, 4, "upper");
  if (x.empty() || lower.size() != x.size() || upper.size() != x.size())
    throw Error("fit", "start, lower and upper need one number per parameter");
  const auto close = [](nlopt_opt_s* opened) { nlopt_destroy(opened); };
  const std::unique_ptr<nlopt_opt_s, decltype(close)> opened(
      nlopt_create(algorithm_of(check_text(L, 5, "algorithm")), static_cast<unsigned>(x.size())),
      close);
  search.algorithm = opened.get();
  if (opened == nullptr) throw Error("fit", "NLopt could not start");
  nlopt_set_lower_bounds(opened.get(), lower.data());
  nlopt_set_upper_bounds(opened.get(), upper.data());
  nlopt_set_maxeval(opened.get(), static_cast<int>(check_number(L, 6, "evaluations")));
  nlopt_set_xtol_rel(opened.get(), check_number(L, 7, "tolerance"));
  const std::vector<double> first_step(x.size(), check_number(L, 8, "step"));
  nlopt_set_initial_step(opened.get(), first_step.data());
  nlopt_set_min_objective(opened.get(), &evaluate, &search);
  double smallest = 0;
  const nlopt_result result = nlopt_optimize(opened.get(), x.data(), &smallest);
  if (!search.problem.empty()) {
    lua_pushnil(L);
    lua_pushlstring(L, search.problem.data(), search.problem.size());
    return 2;
  }
  // NLOPT_ROUNDOFF_LIMITED: rounding errors stopped the last steps; the best value so far is good.
  if (search.best_at.empty() || (result < 0 && result != NLOPT_ROUNDOFF_LIMITED))
    throw Error("fit", "NLopt gave up (code " + std::to_string(result) + ")");
  lua_createtable(L, static_cast<int>(x.size()), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    lua_pushnumber(L, search.best_at[i]);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  lua_pushnumber(L, search.best);
  lua_pushnumber(L, search.evaluations);
  lua_pushboolean(L, result != NLOPT_MAXEVAL_REACHED);
  lua_pushnumber(L, search.hopeless);
  return 5;
}

}  // namespace

void bind_fit(lua_State* L) {
  set_function(L, "minimize", guarded<minimize>);
}

}  // namespace rooflua::script
