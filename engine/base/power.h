#pragma once
// 10^x, the same from every compiler.

namespace rooflua {

/// What the C library's pow(10, x) gives. Where the base is a constant LLVM knows how to call exp10
/// instead, whose last bit may be another (Clang 14 does not; later ones may).
double power_of_ten(double exponent);

}  // namespace rooflua
