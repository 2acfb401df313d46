// Tapes of a device, as captured graphs.
#pragma once

#include <ebb/cuda/graph.h>

#include "compile/tape.h"

namespace ebb::compiling {

struct DeviceTape {
  explicit DeviceTape(Device on) : device(on) {}

  Device device;
  std::unique_ptr<cuda::Graph> graph;
  std::vector<NdArray> arguments;  ///< where the graph reads each input
  int runs = 0;
};

/// Whether chains of calls on a device are made kernels: EBB_FUSE is not 0, and no algorithm needs to be
/// deterministic.
bool may_fuse_on_devices();

/// Makes the tape one that a graph can stand for, if all of its memory is on one device, no argument is
/// written to, and none share memory.
void prepare_for_device(Tape& tape, const std::vector<Variable>& inputs);

/// Launches the tape's graph, which is captured first if there is none or the tape's own memory has moved.
/// False: the calls must be run one by one, for the device's libraries are not ready yet or the calls cannot
/// be captured.
bool launch(Tape& tape, const std::vector<Variable>& inputs, bool moved);

/// All calls, in order. Where one throws, `reached` has its number.
void run_calls(Tape& tape, int* reached = nullptr);

}  // namespace ebb::compiling
