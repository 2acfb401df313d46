// Readers of libebb and damaged bytes.
#include "fuzz/replay.h"

using namespace fuzz;

TEST_CASE("the safetensors reader bears damage") { replay(kTargets[0]); }
TEST_CASE("the IDX reader bears damage") { replay(kTargets[1]); }
TEST_CASE("the IDX reader bears damage inside compression") { replay(kTargets[2]); }
TEST_CASE("the CSV reader bears damage") { replay(kTargets[3]); }
TEST_CASE("the reader of vocabularies bears damage") { replay(kTargets[4]); }
