// Readers of libebb, and damaged bytes.
#include "fuzz/replay.h"
#include "fuzz/targets.h"

using namespace fuzz;

TEST_CASE("the safetensors reader bears damage") { replay(kTargets[0]); }
TEST_CASE("the IDX reader bears damage") { replay(kTargets[1]); }
TEST_CASE("the IDX reader bears damage inside compression") { replay(kTargets[2]); }
TEST_CASE("the CSV reader bears damage") { replay(kTargets[3]); }
TEST_CASE("the reader of vocabularies bears damage") { replay(kTargets[4]); }

// Readers of files that hold tensors, and damaged bytes.

TEST_CASE("the reader of PyTorch's files bears damage") { replay(kFileTargets[0]); }
TEST_CASE("the reader of PyTorch's files bears damage to what describes the data") {
  replay(kFileTargets[1]);
}
TEST_CASE("the NumPy reader bears damage") { replay(kFileTargets[2]); }
TEST_CASE("the reader of NumPy's archives bears damage") { replay(kFileTargets[3]); }
TEST_CASE("the reader of checkpoints in several files bears damage") { replay(kFileTargets[4]); }
TEST_CASE("the reader of NumPy's archives bears damage inside compression") { replay(kFileTargets[6]); }
TEST_CASE("the reader of checkpoints in several files bears damage to one") { replay(kFileTargets[7]); }
TEST_CASE("a checkpoint that is damaged changes nothing") { replay(kFileTargets[5]); }
