#pragma once
// What the distributions of random.h make of one draw: of 64 random bits, or of the quantile of the
// standard normal distribution at a draw.

#include <cmath>
#include <cstdint>

namespace rooflua {

/// In [0, 1)
inline double half_open_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// In (0, 1)
inline double open_unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52;
}

/// @param u  half_open_unit
inline double uniform_of(double u, double low, double high) {
  return low + (high - low) * u;
}

/// @param u  open_unit, as below
inline double exponential_of(double u, double mean) {
  return -mean * std::log(u);
}

inline double weibull_of(double u, double shape, double scale) {
  return scale * std::pow(-std::log(u), 1.0 / shape);
}

inline double pareto_of(double u, double shape, double minimum) {
  return minimum * std::pow(u, -1.0 / shape);
}

/// @param z  standard normal, as below
inline double normal_of(double z, double mean, double deviation) {
  return mean + deviation * z;
}

inline double lognormal_of(double z, double mu, double sigma) {
  return std::exp(mu + sigma * z);
}

}  // namespace rooflua
