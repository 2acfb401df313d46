// Capturing a tape, and launching it.
#include "compile/device_tape.h"

#include <ebb/core/deterministic.h>
#include <ebb/core/environment.h>

#include <cstring>
#include <string_view>

#include "core/backend.h"
#include "ops/common/transfer.h"

namespace ebb::compiling {

Tape::Tape() = default;
Tape::~Tape() = default;

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  if (bytes == 0) return;
  if (to_device.is_cpu() && from_device.is_cpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  const Device device = to_device.is_cpu() ? from_device : to_device;
  detail::backend(device.type()).copy(to, to_device, from, from_device, bytes, true);
}

bool may_fuse_on_devices() {
  const char* const wanted = ebb::detail::environment("EBB_FUSE");
  return !are_deterministic_algorithms_enabled() && !(wanted && std::string_view(wanted) == "0");
}

void prepare_for_device(Tape& tape, const std::vector<Variable>& inputs) {
  optional<Device> device;
  std::size_t arguments = 0;
  for (const Place& place : tape.places) {
    if (place.first < 0) continue;
    const Device on = place.stand_in->device();
    if (on.is_cpu() || (device && *device != on)) return;
    if (place.kind == Place::Kind::input && place.written) return;
    device = on;
  }
  for (const Variable& x : inputs) arguments += x.defined();
  if (device && arguments == tape.arguments.size()) tape.on_device = std::make_unique<DeviceTape>(*device);
}

namespace {

// The graph reads copies of the arguments, which stay where they are.
void bring_copies(Tape& tape, const std::vector<Variable>& inputs) {
  DeviceTape& on = *tape.on_device;
  on.arguments.resize(inputs.size());
  for (const int at : tape.arguments) {
    const Place& place = tape.places[static_cast<std::size_t>(at)];
    const auto input = static_cast<std::size_t>(place.input);
    const NdArray& x = inputs[input].array();
    NdArray& copy = on.arguments[input];
    if (!copy.defined()) copy = NdArray::empty_strided(x.sizes(), x.strides(), x.dtype(), on.device);
    ops::copy_array(copy, x);
    const std::int64_t before = tape.input_offsets[input] * element_size(x.dtype());
    place.stand_in->move_to(static_cast<char*>(copy.data()) - before);
  }
}

}  // namespace

bool launch(Tape& tape, const std::vector<Variable>& inputs, bool moved) {
  DeviceTape& on = *tape.on_device;
  if (++on.runs == 1) return false;  // plans and workspaces are made by a run of its own
  bring_copies(tape, inputs);
  if (moved) on.graph.reset();
  if (!on.graph) {
    auto graph = std::make_unique<cuda::Graph>(on.device);
    try {
      graph->capture([&] { run_calls(tape); });
    } catch (const Error&) {
      tape.on_device.reset();
      return false;
    }
    on.graph = std::move(graph);
  }
  on.graph->replay();
  return true;
}

}  // namespace ebb::compiling
