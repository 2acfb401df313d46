// Replays a tape call by call or as a captured graph, after a check of its assumptions.

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/deterministic.h>
#include <ebb/core/environment.h>
#include <ebb/core/parallel.h>

#include "autograd/tensor_state.h"
#include "compile/tape.h"
#include "core/backend.h"
#include "ops/common/arrays.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace ebb::detail::compile {
namespace {

Buffer& buffer_at(Tape& tape, int at) { return tape.buffers[static_cast<std::size_t>(at)]; }
const Buffer& buffer_at(const Tape& tape, int at) { return tape.buffers[static_cast<std::size_t>(at)]; }

const Variable& leaf_of(const TapeLeaf& leaf, const std::vector<Variable>& inputs) {
  return leaf.input >= 0 ? inputs[static_cast<std::size_t>(leaf.input)] : *leaf.leaf;
}

// Returns the memory of a buffer for a call with these inputs.
const Ref<Storage>& storage_of(const Buffer& buffer, const std::vector<Variable>& inputs) {
  if (buffer.kind == Buffer::Kind::input)
    return inputs[static_cast<std::size_t>(buffer.input)].array().storage();
  return buffer.kind == Buffer::Kind::captured ? buffer.found->storage : buffer.memory;
}

std::int64_t offset_of(const Tape& tape, const TensorRef& tensor, const std::vector<Variable>& inputs) {
  const Buffer& buffer = tape.buffers[static_cast<std::size_t>(tensor.buffer)];
  if (buffer.kind != Buffer::Kind::input) return tensor.array.offset();
  const auto input = static_cast<std::size_t>(buffer.input);
  return tensor.array.offset() + inputs[input].array().offset() - tape.input_offsets[input];
}

NdArray array_of(const Tape& tape, const TensorRef& tensor, const std::vector<Variable>& inputs) {
  const Buffer& buffer = tape.buffers[static_cast<std::size_t>(tensor.buffer)];
  return NdArray(storage_of(buffer, inputs), DimVector(tensor.array.sizes()),
                 DimVector(tensor.array.strides()), offset_of(tape, tensor, inputs), tensor.array.dtype());
}

// Returns whether the tensor's array equals array_of(tensor). Compares field by field, because the
// construction of array_of() would take longer.
bool matches(const Variable& x, const Tape& tape, const TensorRef& tensor,
             const std::vector<Variable>& inputs) {
  if (!x.defined()) return false;
  const NdArray &a = x.array(), &b = tensor.array;
  const Buffer& buffer = tape.buffers[static_cast<std::size_t>(tensor.buffer)];
  return a.storage() == storage_of(buffer, inputs) && a.offset() == offset_of(tape, tensor, inputs) &&
         a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

// Allocates new memory for a buffer if it has none or the caller still holds its memory. Returns whether it
// allocated memory. `own_references` is the number of references that the replay itself will drop.
bool replace_if_held(Buffer& buffer, std::uint32_t own_references) {
  if (buffer.memory && buffer.memory->use_count() <= 1 + own_references) return false;
  buffer.memory = Storage::allocate(buffer.bytes, buffer.placeholder->device());
  buffer.placeholder->move_to(buffer.memory->data());
  return true;
}

void materialize_arenas(Tape& tape) {
  for (Tape::Arena& arena : tape.arenas) arena.memory = Storage::allocate(arena.bytes, arena.device);
  for (Buffer& buffer : tape.buffers) {
    if (buffer.kind == Buffer::Kind::captured) buffer.placeholder->move_to(buffer.found->storage->data());
    if (buffer.kind != Buffer::Kind::temporary) continue;
    for (const Tape::Arena& arena : tape.arenas)
      if (arena.device == buffer.placeholder->device())
        buffer.placeholder->move_to(static_cast<char*>(arena.memory->data()) + buffer.arena_offset);
  }
}

// Allocates or reuses the memory of results and constants, and fills constants. Returns whether any address
// has changed.
bool materialize_own(Tape& tape, const std::vector<Variable>& inputs) {
  std::vector<std::uint32_t> references;  // references from the gradients that this replay replaces
  for (const TapeLeaf& leaf : tape.leaves) {
    if (leaf.after.buffer < 0) continue;
    const Variable& grad = autograd::gradient_of(leaf_of(leaf, inputs));
    if (!grad.defined() || grad.use_count() != 1) continue;
    if (grad.array().storage() != buffer_at(tape, leaf.after.buffer).memory) continue;
    references.resize(tape.buffers.size());
    ++references[static_cast<std::size_t>(leaf.after.buffer)];
  }
  bool moved = false;
  for (const int at : tape.own) {
    Buffer& buffer = buffer_at(tape, at);
    const bool fresh =
        replace_if_held(buffer, references.empty() ? 0 : references[static_cast<std::size_t>(at)]);
    moved = moved || fresh;
    if (!buffer.contents.empty() && (fresh || buffer.written))
      copy_bytes(buffer.memory->data(), buffer.placeholder->device(), buffer.contents.data(), kCPU,
                 buffer.contents.size());
  }
  return moved;
}

void bind_arguments(Tape& tape, const std::vector<Variable>& inputs) {
  for (const int at : tape.arguments) {
    const Buffer& buffer = buffer_at(tape, at);
    const auto input = static_cast<std::size_t>(buffer.input);
    const NdArray& x = inputs[input].array();
    const std::int64_t moved = x.offset() - tape.input_offsets[input];
    buffer.placeholder->move_to(static_cast<char*>(x.storage()->data()) + moved * element_size(x.dtype()));
  }
}

// Handles the outputs that a kernel allocates itself. Before a call, restores the arrays that the kernel
// replaced in the last run. After the call, stores the new ones.
class ReplacedOutputs final : public detail::ArgumentVisitor {
 public:
  ReplacedOutputs(Tape& tape, const TapeCall& call, bool after) : tape_(tape), call_(call), after_(after) {}

  void array(NdArray& array) override {
    const std::size_t at = visited_++;
    for (const TapeCall::Allocated& allocated : call_.allocated) {
      if (allocated.array != at) continue;
      if (!after_) {
        array = allocated.replaced;
        continue;
      }
      Buffer& buffer = buffer_at(tape_, allocated.buffer);
      EBB_CHECK(array.storage()->bytes() == buffer.bytes, call_.call->name(), ": allocated ",
                array.storage()->bytes(), " bytes in a replay, but ", buffer.bytes,
                " when it was recorded. The function's shapes depend on values: do not compile it.");
      buffer.memory = array.storage();
      buffer.placeholder->move_to(buffer.memory->data());
    }
  }
  void address(void*&) override {}
  void words(Philox&) override {}
  void plain(const void*, std::size_t) override {}

 private:
  Tape& tape_;
  const TapeCall& call_;
  bool after_;
  std::size_t visited_ = 0;
};

void run(Tape& tape, const TapeCall& call) {
  for (const TapeCall::Address& each : call.addresses)
    *each.pointer = static_cast<char*>(buffer_at(tape, each.buffer).placeholder->data()) + each.offset;
  for (const TapeCall::Words& each : call.words) *each.target = *each.source;
  if (call.allocated.empty()) [[likely]]
    return call.call->run();
  ReplacedOutputs before(tape, call, false);
  call.call->visit(before);
  call.call->run();
  ReplacedOutputs after(tape, call, true);
  call.call->visit(after);
}

// Assigns the gradients that are complete after the calls with indices below `end`. Drops the gradients that
// the function drops before `end`.
void assign_gradients(Tape& tape, const std::vector<Variable>& inputs, int end) {
  for (const TapeLeaf& entry : tape.leaves) {
    if (!entry.sets_gradient) continue;
    const Variable& leaf = leaf_of(entry, inputs);
    const TensorRef* after = entry.added_at <= end ? &entry.after : nullptr;
    for (auto stage = entry.stages.rbegin(); !after && stage != entry.stages.rend(); ++stage)
      if (stage->added_at <= end) after = &stage->after;
    if (!after || after->buffer < 0) {
      if (after || (entry.ignores_old && entry.dropped_at <= end)) autograd::drop_gradient(leaf);
      continue;
    }
    if (matches(autograd::gradient_of(leaf), tape, *after, inputs)) continue;
    leaf.mutable_grad() = Variable(array_of(tape, *after, inputs));
  }
}

bool leaf_holds(const Tape& tape, const TapeLeaf& entry, const std::vector<Variable>& inputs) {
  const Variable& leaf = leaf_of(entry, inputs);
  if (entry.adds && !leaf.requires_grad()) return false;
  if (entry.input < 0 && leaf.array().address() != entry.data) return false;
  if (entry.ignores_old) return true;
  const Variable& grad = autograd::gradient_of(leaf);
  if (grad.defined() != entry.had_gradient) return false;
  if (entry.queried != 0 && autograd::geometry_of(*grad.impl()) != entry.queried) return false;
  return entry.before.buffer < 0 || matches(grad, tape, entry.before, inputs);
}

// Returns whether the argument's memory contains all elements that the calls access. A view by as_strided may
// extend beyond the argument, or begin at a fixed offset in the memory.
bool contains_accesses(const Tape& tape, const Buffer& buffer, const std::vector<Variable>& inputs) {
  const auto input = static_cast<std::size_t>(buffer.input);
  const NdArray& x = inputs[input].array();
  if (buffer.fixed_offset && x.offset() != tape.input_offsets[input]) return false;
  const std::int64_t begin = x.offset() * element_size(x.dtype());
  return buffer.reach <= 0 || begin + buffer.reach <= static_cast<std::int64_t>(x.storage()->bytes());
}

// Returns the scratch memory of a step's program, or null if it needs none.
std::byte* work_of(const Tape& tape, const TapeStep& step) {
  for (const Tape::Arena& arena : tape.arenas)
    if (arena.device == step.program->work_device())
      return static_cast<std::byte*>(arena.memory->data()) + step.work_offset;
  return nullptr;
}

// Returns whether an argument is a leaf in the memory of a captured tensor.
bool is_captured_leaf(const Tape& tape, const Variable& input) {
  if (!input.defined() || !input.requires_grad()) return false;
  const Storage* const storage = input.array().storage().get();
  return std::any_of(tape.captured.begin(), tape.captured.end(),
                     [&](int at) { return buffer_at(tape, at).found->storage.get() == storage; });
}

}  // namespace

bool overlap(const Storage& a, const Storage& b) {
  const auto* const from = static_cast<const char*>(a.data());
  const auto* const other = static_cast<const char*>(b.data());
  return from < other + b.bytes() && other < from + a.bytes();
}

bool reads_same(Tape& tape) {
  const auto same = [&](int at) {
    Buffer& buffer = buffer_at(tape, at);
    const detail::ReadStorage& found = *buffer.found;
    if (found.storage->use_count() < 2 || found.state.load(std::memory_order_relaxed) != buffer.known.state)
      return false;
    return buffer.is_gradient || buffer.known.none_gone(found);
  };
  return std::all_of(tape.captured.begin(), tape.captured.end(), same);
}

bool holds(Tape& tape, const std::vector<Variable>& inputs) {
  if (!reads_same(tape)) return false;
  for (const auto& each : tape.queried)
    if (each->gone.load(std::memory_order_relaxed)) return false;
  for (const Variable& input : inputs)
    if (is_captured_leaf(tape, input)) return false;
  for (const int at : tape.arguments)
    if (!contains_accesses(tape, buffer_at(tape, at), inputs)) return false;
  for (const TapeLeaf& leaf : tape.leaves)
    if (!leaf_holds(tape, leaf, inputs)) return false;
  for (const auto& [a, b] : tape.no_alias)
    if (overlap(*storage_of(buffer_at(tape, a), inputs), *storage_of(buffer_at(tape, b), inputs)))
      return false;
  for (const detail::KeptCall* call : tape.watched)
    if (!call->holds()) return false;
  return true;
}

void run_calls(Tape& tape, int* reached) {
  for (const TapeStep& step : tape.steps) {
    if (reached) *reached = tape.calls[static_cast<std::size_t>(step.first)].number;
    if (step.program)
      step.program->run(work_of(tape, step));
    else
      run(tape, tape.calls[static_cast<std::size_t>(step.first)]);
  }
}

std::vector<Variable> replay(Tape& tape, const std::vector<Variable>& inputs) {
  if (tape.work_threads < get_num_threads()) {
    plan_memory(tape);
    tape.materialized = false;
  }
  if (!tape.materialized) materialize_arenas(tape);
  tape.materialized = true;
  const bool moved = materialize_own(tape, inputs);
  const AutoGradMode no_graph(false);
  // Increments the versions before the calls, because a call may throw after earlier calls have written.
  for (const std::vector<int>* buffers : {&tape.arguments, &tape.captured})
    for (const int at : *buffers)
      for (std::uint32_t i = 0; i < buffer_at(tape, at).version_bumps; ++i)
        storage_of(buffer_at(tape, at), inputs)->bump_version();
  const bool launched = tape.on_device && launch(tape, inputs, moved);
  if (!launched) {
    bind_arguments(tape, inputs);
    int reached = 0;
    try {
      run_calls(tape, &reached);
    } catch (...) {
      // Assigns the gradients that are complete at the exception, and clears the elements that are not yet
      // overwritten, because the eager function would also have done so.
      for (const DroppedZeros& zeros : tape.dropped_zeros)
        if (zeros.from < reached && reached <= zeros.to)
          Variable(array_of(tape, {zeros.buffer, zeros.elements}, inputs)).zero_();
      assign_gradients(tape, inputs, reached);
      throw;
    }
  }
  assign_gradients(tape, inputs, std::numeric_limits<int>::max());
  std::vector<Variable> outputs;
  std::unordered_map<int, NdArray> copies;  // copies of the memory of buffers
  for (const TapeOutput& output : tape.outputs) {
    const TensorRef& each = output.tensor;
    if (each.buffer < 0 || output.input >= 0 || output.earlier >= 0 || output.found->defined()) {
      outputs.push_back(output.input >= 0     ? inputs[static_cast<std::size_t>(output.input)]
                        : output.earlier >= 0 ? Variable(outputs[static_cast<std::size_t>(output.earlier)])
                                              : *output.found);
      continue;
    }
    NdArray out = array_of(tape, each, inputs);
    // Copies the output in two cases. A constant's memory belongs to the tape, and a captured graph writes
    // its results to the same memory in each launch.
    const Buffer::Kind kind = buffer_at(tape, each.buffer).kind;
    const bool shared = kind == Buffer::Kind::constant ||
                        (launched && (kind == Buffer::Kind::result || kind == Buffer::Kind::from_kernel));
    if (shared) {  // outputs that share memory share one copy
      NdArray& memory = copies[each.buffer];
      const auto bytes = static_cast<std::int64_t>(out.storage()->bytes());
      if (!memory.defined())
        memory = Variable(NdArray(out.storage(), {bytes}, {1}, 0, kByte)).clone().array();
      out = NdArray(memory.storage(), DimVector(out.sizes()), DimVector(out.strides()), out.offset(),
                    out.dtype());
    }
    outputs.emplace_back(std::move(out));
    outputs.back().impl()->inference = output.inference;
  }
  return outputs;
}

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
  for (const Buffer& buffer : tape.buffers) {
    if (buffer.first < 0) continue;
    const Device on = buffer.placeholder->device();
    if (on.is_cpu() || (device && *device != on)) return;
    if (buffer.kind == Buffer::Kind::input && buffer.written) return;
    device = on;
  }
  for (const Variable& x : inputs) arguments += x.defined();
  if (device && arguments == tape.arguments.size()) tape.on_device = std::make_unique<DeviceTape>(*device);
}

namespace {

// Copies the arguments to the addresses that the graph reads.
void copy_arguments(Tape& tape, const std::vector<Variable>& inputs) {
  DeviceTape& on = *tape.on_device;
  on.arguments.resize(inputs.size());
  for (const int at : tape.arguments) {
    const Buffer& buffer = tape.buffers[static_cast<std::size_t>(at)];
    const auto input = static_cast<std::size_t>(buffer.input);
    const NdArray& x = inputs[input].array();
    NdArray& copy = on.arguments[input];
    if (!copy.defined()) copy = NdArray::empty_strided(x.sizes(), x.strides(), x.dtype(), on.device);
    ops::copy_array(copy, x);
    const std::int64_t before = tape.input_offsets[input] * element_size(x.dtype());
    buffer.placeholder->move_to(static_cast<char*>(copy.data()) - before);
  }
}

}  // namespace

bool launch(Tape& tape, const std::vector<Variable>& inputs, bool moved) {
  DeviceTape& on = *tape.on_device;
  if (++on.runs == 1) return false;  // the first run lets libraries create plans and workspaces
  copy_arguments(tape, inputs);
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

}  // namespace ebb::detail::compile
