#pragma once
// Clients that send requests again. A retry is a request of its own, with an id by when it is sent.
// The naive cluster knows prompts alone, so retries are put among them one after the other, the
// earliest end first: what comes before it does not change.

#include "tests/reference/cases/cluster.h"

namespace rooflua::reference {

/// Patience of about what requests take. @param calm  the same without clients
void draw_client(ClusterCase& cluster, const History& calm);

/// The naive cluster's answer; the case has all retries then.
History run_naive_with_retries(ClusterCase& cluster);

}  // namespace rooflua::reference
