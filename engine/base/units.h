#pragma once
// Units as types: a wrong dimension does not compile.
//
//     const Seconds time = work.flop / (peak * mfu);        // Flop / (Flop / Seconds)
//     const double ms = time / unit::ms;                    // a plain number
//
// Inside the engine: seconds, bytes, flop, tokens. `flop` is work, `flop / s` is speed.
// GB is 1e9 bytes, GiB is 2^30.

#include <compare>

namespace rooflua {

/// A number with the dimension time^T * byte^B * flop^F * token^K.
template <int T, int B, int F, int K>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double base_units) : value_(base_units) {}

  /// The number in base units (s, byte, flop, token), for loaders and reports only.
  constexpr double in_base_units() const { return value_; }

  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) {
    value_ /= divisor;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, double b) { return Quantity(a.value_ * b); }
  friend constexpr Quantity operator*(double a, Quantity b) { return Quantity(a * b.value_); }
  friend constexpr Quantity operator/(Quantity a, double b) { return Quantity(a.value_ / b); }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0.0;
};

namespace detail {
template <int T, int B, int F, int K>
struct Result {
  using Type = Quantity<T, B, F, K>;
  static constexpr Type of(double value) { return Type(value); }
};
template <>
struct Result<0, 0, 0, 0> {  // a ratio is a plain number
  using Type = double;
  static constexpr double of(double value) { return value; }
};
}  // namespace detail

template <int T1, int B1, int F1, int K1, int T2, int B2, int F2, int K2>
constexpr auto operator*(Quantity<T1, B1, F1, K1> a, Quantity<T2, B2, F2, K2> b) {
  return detail::Result<T1 + T2, B1 + B2, F1 + F2, K1 + K2>::of(a.in_base_units() *
                                                                b.in_base_units());
}
template <int T1, int B1, int F1, int K1, int T2, int B2, int F2, int K2>
constexpr auto operator/(Quantity<T1, B1, F1, K1> a, Quantity<T2, B2, F2, K2> b) {
  return detail::Result<T1 - T2, B1 - B2, F1 - F2, K1 - K2>::of(a.in_base_units() /
                                                                b.in_base_units());
}
template <int T, int B, int F, int K>
constexpr auto operator/(double a, Quantity<T, B, F, K> b) {
  return detail::Result<-T, -B, -F, -K>::of(a / b.in_base_units());
}

using Seconds = Quantity<1, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0>;
using Flop = Quantity<0, 0, 1, 0>;
using Tokens = Quantity<0, 0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using FlopPerSecond = Quantity<-1, 0, 1, 0>;
using BytesPerToken = Quantity<0, 1, 0, -1>;

namespace unit {
inline constexpr Seconds s{1.0}, ms{1e-3}, us{1e-6}, ns{1e-9};
inline constexpr Bytes byte{1.0}, kB{1e3}, MB{1e6}, GB{1e9}, TB{1e12};
inline constexpr Bytes KiB{1024.0}, MiB{1048576.0}, GiB{1073741824.0};
inline constexpr Flop flop{1.0}, GFLOP{1e9}, TFLOP{1e12};
inline constexpr Tokens token{1.0};
}  // namespace unit

}  // namespace rooflua
