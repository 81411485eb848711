#pragma once
// 10^x, the same from every compiler.

namespace rooflua {

/// The result of the C library's pow(10, x). With a constant base LLVM may call exp10 instead,
/// whose last bit may differ (Clang 14 does not do that; later releases may).
double power_of_ten(double exponent);

}  // namespace rooflua
