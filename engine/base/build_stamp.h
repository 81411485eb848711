#pragma once
// Which build of the program this is. Results name it, because another build may compute others.

namespace rooflua {

/// Version and commit, "0.1.0+3f6b910c4d2e". With "-dirty.1a2b3c4d" the engine's sources differ
/// from that commit. "0.1.0+sources.3f6b910c4d2e" where they came without their repository.
const char* build_stamp();

}  // namespace rooflua
