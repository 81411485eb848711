#pragma once
// Latencies on a grid whose axes are 1, 2, 3 and then four points an octave: the sizes that kernel
// tables have rows of.

#include "border.h"

namespace rooflua {

/// The four points of the grid around (x, y). x below 1 counts as 1, numbers beyond an axis count
/// as its last point, and y below 1 is on column 0, which stands for y = 0. Every number of the
/// cell is exact. Its evidence is that of the point where (x, y) is one; else the worst of the
/// points that count, and not better than interpolated.
void find_cell(const rooflua_octave_grid& grid, double x, double y,
               rooflua_grid_cell& cell) noexcept;

}  // namespace rooflua
