// Readers of ebb::vision with damaged inputs.
#include "fuzz/replay.h"

using namespace fuzz;

TEST_CASE("the JPEG reader survives damaged files") { replay(kVisionTargets[0]); }
TEST_CASE("the PNG reader survives damaged files") { replay(kVisionTargets[1]); }
TEST_CASE("the CIFAR reader survives damaged files") { replay(kVisionTargets[2]); }
