// Readers of libebb with damaged inputs.
#include "fuzz/replay.h"
#include "fuzz/targets.h"

using namespace fuzz;

TEST_CASE("the safetensors reader survives damaged files") { replay(kTargets[0]); }
TEST_CASE("the IDX reader survives damaged files") { replay(kTargets[1]); }
TEST_CASE("the IDX reader survives damaged data inside gzip") { replay(kTargets[2]); }
TEST_CASE("the CSV reader survives damaged files") { replay(kTargets[3]); }
TEST_CASE("the vocabulary reader survives damaged files") { replay(kTargets[4]); }

// Readers of tensor files with damaged inputs.

TEST_CASE("the PyTorch reader survives damaged files") { replay(kFileTargets[0]); }
TEST_CASE("the PyTorch reader survives damaged pickles") { replay(kFileTargets[1]); }
TEST_CASE("the npy reader survives damaged files") { replay(kFileTargets[2]); }
TEST_CASE("the npz reader survives damaged files") { replay(kFileTargets[3]); }
TEST_CASE("the reader of sharded checkpoints survives damaged files") { replay(kFileTargets[4]); }
TEST_CASE("the npz reader survives damaged data inside deflate") { replay(kFileTargets[6]); }
TEST_CASE("the reader of sharded checkpoints survives one damaged shard") { replay(kFileTargets[7]); }
TEST_CASE("loading a damaged checkpoint changes nothing") { replay(kFileTargets[5]); }
