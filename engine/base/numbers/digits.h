#pragma once
// Numbers as people read them in messages and reports: some digits, and never an exponent.

#include <string>

namespace rooflua {

/// At most so many significant digits, without zeros at the end of a fraction and without an
/// exponent: significant(20180.4, 4) is "20180", significant(0.00001234, 3) is "0.0000123". Below
/// 1e-12 it is "0"; what is no finite number reads as printf has it.
std::string significant(double value, int digits);

}  // namespace rooflua
