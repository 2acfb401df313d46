// Readers of ebb::vision and damaged bytes.
#include "fuzz/replay.h"

using namespace fuzz;

TEST_CASE("the JPEG reader bears damage") { replay(kVisionTargets[0]); }
TEST_CASE("the PNG reader bears damage") { replay(kVisionTargets[1]); }
TEST_CASE("the CIFAR reader bears damage") { replay(kVisionTargets[2]); }
