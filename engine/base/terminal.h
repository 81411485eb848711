#pragma once
// The terminal behind standard output or standard error: its width, and whether it wants colour.

namespace rooflua {

/// Characters of a line, for a file descriptor that is a terminal; 0 if it is none, or does not
/// tell.
int terminal_columns(int descriptor);

/// Whether colour may be written: the descriptor is a terminal, TERM is neither empty nor "dumb",
/// and NO_COLOR is not set to anything.
/// @source no-color.org: a NO_COLOR that is not empty means no colour
bool wants_colour(int descriptor);

}  // namespace rooflua
