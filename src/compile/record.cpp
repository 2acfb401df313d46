// Records kernel calls, buffers and outputs of a function as a tape.

#include "compile/record.h"

#include <ebb/autograd/grad_mode.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "autograd/thread_state.h"
#include "compile/tape.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ebb::detail::compile {

using detail::ArgumentVisitor;

Recording::Recording(const std::vector<Variable>& inputs)
    : inputs_(inputs),
      number_(detail::begin_recording()),
      first_node_(autograd::thread_state.next_sequence_nr) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& x = inputs[i];
    input_handles_.push_back(x.use_count());
    tape_->input_offsets.push_back(x.defined() ? x.array().offset() : 0);
    if (!x.defined() || known_.contains(x.array().storage().get())) continue;
    const Ref<Storage>& storage = x.array().storage();
    const int buffer = new_buffer(Buffer::Kind::input, *storage);
    tape_->buffers[static_cast<std::size_t>(buffer)].input = static_cast<int>(i);
    known_[storage.get()] = {buffer, 0};
  }
}

Recording::~Recording() {
  detail::forget_allocations(*this);
  detail::end_recording();
}

void Recording::sign(const void* bytes, std::size_t count) {
  tape_->signature.append(static_cast<const char*>(bytes), count);
}

// Adds the array's geometry to the signature. In an argument's memory, the offset is relative to the offset
// of the argument, so that arguments may begin anywhere in their memory.
void Recording::sign_geometry(const NdArray& array, const Buffer& buffer) {
  const bool is_input = buffer.kind == Buffer::Kind::input;
  const std::int64_t offset =
      array.offset() - (is_input ? tape_->input_offsets[static_cast<std::size_t>(buffer.input)] : 0);
  const DType dtype = array.dtype();
  const std::size_t dims = array.sizes().size();
  sign(&offset, sizeof(offset));
  sign(&dtype, sizeof(dtype));
  sign(&dims, sizeof(dims));
  sign(array.sizes().data(), dims * sizeof(std::int64_t));
  sign(array.strides().data(), dims * sizeof(std::int64_t));
}

int Recording::known(const Storage* storage) const {
  const auto found = known_.find(storage);
  if (found == known_.end()) return -1;
  const Known& k = found->second;
  return k.serial == 0 || k.serial == detail::allocation_serial(*this, storage) ? k.buffer : -1;
}

int Recording::new_buffer(Buffer::Kind kind, const Storage& storage) {
  Buffer buffer;
  buffer.kind = kind;
  buffer.bytes = storage.bytes();
  const detail::RecorderScope not_recorded(nullptr);
  buffer.placeholder = Storage::adopt(nullptr, storage.bytes(), storage.device(), nullptr, nullptr);
  tape_->buffers.push_back(std::move(buffer));
  sign(&kind, sizeof(kind));
  return static_cast<int>(tape_->buffers.size()) - 1;
}

int Recording::buffer_of(const Ref<Storage>& storage) {
  int buffer = known(storage.get());
  if (buffer >= 0) return buffer;
  const std::uint64_t serial = detail::allocation_serial(*this, storage.get());
  if (serial != 0) {
    buffer = new_buffer(Buffer::Kind::temporary, *storage);
  } else {
    buffer = new_buffer(Buffer::Kind::captured, *storage);
    tape_->buffers.back().found = detail::read_by_tape(storage, number_);
    const Storage* const address = storage.get();
    sign(&address, sizeof(address));
  }
  known_[storage.get()] = {buffer, serial};
  return buffer;
}

// Records an access of the current call to a buffer.
void Recording::note_access(int at, bool written) {
  Buffer& buffer = tape_->buffers[static_cast<std::size_t>(at)];
  const auto now = static_cast<int>(tape_->calls.size());
  if (buffer.first < 0) buffer.first = now;
  buffer.last = now;
  buffer.written = buffer.written || written;
}

NdArray Recording::on_placeholder(int buffer, const NdArray& array) const {
  return NdArray(tape_->buffers[static_cast<std::size_t>(buffer)].placeholder, DimVector(array.sizes()),
                 DimVector(array.strides()), array.offset(), array.dtype());
}

// Replaces the arrays of a call by arrays on placeholders.
class Recording::Keeper final : public ArgumentVisitor {
 public:
  explicit Keeper(Recording& recording) : r_(recording) {}

  void array(NdArray& array) override {
    r_.given_.push_back(array);
    if (array.defined()) {
      const int buffer = use(array.storage());
      plain_value(buffer);
      r_.sign_geometry(array, r_.tape_->buffers[static_cast<std::size_t>(buffer)]);
      array = r_.on_placeholder(buffer, array);
      r_.kept_.push_back({buffer, array});
    } else {
      plain_value(-1);
      r_.kept_.emplace_back();
    }
  }
  void address(void*& at) override {
    if (!at) return;
    const auto* const address = static_cast<const char*>(at);
    auto found = r_.addresses_.upper_bound(address);
    if (found == r_.addresses_.begin() || address > (--found)->first + found->second.bytes)
      return r_.refuse("a kernel was given an address outside the memory of all recorded tensors");
    const int buffer = found->second.buffer;
    r_.note_access(buffer, true);
    plain_value(buffer);
    const auto offset = static_cast<std::size_t>(address - found->first);
    plain_value(offset);
    r_.call_.addresses.push_back({&at, buffer, offset});
  }
  void words(Philox& philox) override {
    const auto found = r_.draws_.find({philox.seed, philox.call});
    if (found != r_.draws_.end()) {
      r_.call_.words.push_back({&philox, found->second.kept});
      plain_value(found->second.number);
    } else if (!written) {
      r_.refuse("a kernel was given random words that no recorded kernel generated");
    }
  }
  void plain(const void* bytes, std::size_t count) override { r_.sign(bytes, count); }

 private:
  template <class T>
  void plain_value(const T& value) {
    plain(&value, sizeof(value));
  }

  // Returns the buffer of a storage. If no kernel has written the memory before its first use, the buffer is
  // a constant.
  int use(const Ref<Storage>& storage) {
    const int buffer = r_.buffer_of(storage);
    Buffer& p = r_.tape_->buffers[static_cast<std::size_t>(buffer)];
    if (p.kind == Buffer::Kind::temporary && p.first < 0) {
      const auto found = r_.written_by_host_.find(storage.get());
      const bool by_host =
          found != r_.written_by_host_.end() && found->second == detail::allocation_serial(r_, storage.get());
      if (!written || by_host) r_.make_constant(p, *storage);
    }
    r_.note_access(buffer, written);
    return buffer;
  }

  Recording& r_;
};

void Recording::make_constant(Buffer& buffer, const Storage& storage) {
  buffer.kind = Buffer::Kind::constant;
  buffer.contents.resize(storage.bytes());
  copy_bytes(buffer.contents.data(), kCPU, storage.data(), storage.device(), storage.bytes());
  sign(buffer.contents.data(), buffer.contents.size());
}

// Finds, after a call, the outputs that the kernel has allocated, and the Philox state that it has drawn.
class Recording::Matcher final : public ArgumentVisitor {
 public:
  explicit Matcher(Recording& recording) : r_(recording) {}

  void array(NdArray& array) override {
    const std::size_t at = visited_++;
    if (at >= r_.given_.size() || !written || !array.defined()) return;
    const NdArray& given = r_.given_[at];
    if (given.defined() && given.storage() == array.storage()) return;
    if (r_.known(array.storage().get()) >= 0) return;
    detail::storage_allocated(*array.storage());
    const int buffer = r_.buffer_of(array.storage());
    r_.tape_->buffers[static_cast<std::size_t>(buffer)].kind = Buffer::Kind::from_kernel;
    r_.note_access(buffer, true);
    r_.call_.allocated.push_back({at, buffer, r_.kept_[at].array});
  }
  void address(void*&) override {}
  void words(Philox& philox) override {
    if (written && !r_.draws_.contains({philox.seed, philox.call})) drawn = philox;
  }
  void plain(const void*, std::size_t) override {}

  std::optional<Philox> drawn;

 private:
  Recording& r_;
  std::size_t visited_ = 0;
};

// Finds the Philox state that a recorded call draws.
class FindDrawn final : public ArgumentVisitor {
 public:
  void array(NdArray&) override {}
  void address(void*&) override {}
  void words(Philox& philox) override {
    if (written) found = &philox;
  }
  void plain(const void*, std::size_t) override {}
  const Philox* found = nullptr;
};

void Recording::begin(detail::KeptCall& kept) {
  tape_->marks.push_back({tape_->signature.size(), kept.name()});
  sign(kept.name(), std::strlen(kept.name()));
  given_.clear();
  kept_.clear();
  call_ = {};
  Keeper keeper(*this);
  kept.visit(keeper);
}

void Recording::end(std::unique_ptr<detail::KeptCall> kept, detail::KeptCall& after) {
  Matcher matcher(*this);
  after.visit(matcher);
  if (matcher.drawn) {
    FindDrawn words;
    kept->visit(words);
    draws_[{matcher.drawn->seed, matcher.drawn->call}] = {words.found, draws_.size()};
  }
  if (kept->watched()) tape_->watched.push_back(kept.get());
  call_.call = std::move(kept);
  call_.number = static_cast<int>(tape_->calls.size());
  tape_->calls.push_back(std::move(call_));
  given_.clear();
}

void Recording::sort_buffers() {
  for (std::size_t i = 0; i < tape_->buffers.size(); ++i) {
    const auto at = static_cast<int>(i);
    switch (tape_->buffers[i].kind) {
      case Buffer::Kind::input:
        tape_->arguments.push_back(at);
        break;
      case Buffer::Kind::captured:
        tape_->captured.push_back(at);
        break;
      case Buffer::Kind::result:
      case Buffer::Kind::constant:
        tape_->own.push_back(at);
        break;
      case Buffer::Kind::temporary:
      case Buffer::Kind::elided:
      case Buffer::Kind::from_kernel:
        break;
    }
  }
}

// Records the pairs of buffers that must not overlap. Each pair contains an argument, because captured
// tensors keep their addresses, but the addresses of arguments may change with each call.
void Recording::note_no_alias() {
  const auto buffer = [&](int at) -> const Buffer& { return tape_->buffers[static_cast<std::size_t>(at)]; };
  const auto note = [&](int a, int b) {
    if (a != b && (buffer(a).written || buffer(b).written)) tape_->no_alias.emplace_back(a, b);
  };
  for (auto a = tape_->arguments.begin(); a != tape_->arguments.end(); ++a) {
    for (auto b = a + 1; b != tape_->arguments.end(); ++b) note(*a, *b);
    for (const int b : tape_->captured) note(*a, b);
  }
  // Sorting by address keeps the number of compared pairs small.
  std::vector<int> by_address = tape_->captured;
  const auto begin_of = [&](int at) { return static_cast<const char*>(buffer(at).found->storage->data()); };
  std::sort(by_address.begin(), by_address.end(), [&](int a, int b) { return begin_of(a) < begin_of(b); });
  for (std::size_t i = 0; i < by_address.size(); ++i)
    for (std::size_t j = i + 1; j < by_address.size(); ++j) {
      const Buffer &a = buffer(by_address[i]), &b = buffer(by_address[j]);
      if (begin_of(by_address[j]) >= begin_of(by_address[i]) + a.bytes) break;
      if ((a.written || b.written) && overlap(*a.found->storage, *b.found->storage))
        refuse(
            "it writes to a captured tensor that shares its memory with another tensor, such as a result of "
            "data()");
    }
}

void Recording::refuse(const std::string& reason) {
  if (reason_.empty()) reason_ = reason;
}

void Recording::will_access(const NdArray& array) {
  const int buffer = buffer_of(array.storage());
  addresses_[static_cast<const char*>(array.storage()->data())] = {buffer, array.storage()->bytes()};
}

void Recording::reaches(const NdArray& array, std::int64_t end, bool from_own_offset) {
  const int at = known(array.storage().get());
  if (at < 0) return;
  Buffer& buffer = tape_->buffers[static_cast<std::size_t>(at)];
  if (buffer.kind != Buffer::Kind::input) return;
  const NdArray& input = inputs_[static_cast<std::size_t>(buffer.input)].array();
  const std::int64_t begin = input.offset() * element_size(input.dtype());
  buffer.reach = std::max(buffer.reach, end - begin);
  buffer.fixed_offset = buffer.fixed_offset || !from_own_offset;
}

void Recording::host_access(const Storage& storage) {
  const std::uint64_t serial = detail::allocation_serial(*this, &storage);
  const int buffer = known(&storage);
  if (serial != 0 && (buffer < 0 || tape_->buffers[static_cast<std::size_t>(buffer)].first < 0)) {
    written_by_host_[&storage] = serial;
    return;
  }
  refuse("the host reads or writes elements of a tensor (item(), a condition, printing, data_ptr())");
}

void Recording::version_bumped(const Ref<Storage>& storage) {
  int buffer = known(storage.get());
  // If no call has accessed the storage, the write had no elements or copied elements to themselves. A
  // storage from outside the function then gets a buffer here.
  if (buffer < 0 && detail::allocation_serial(*this, storage.get()) == 0) buffer = buffer_of(storage);
  if (buffer >= 0) ++tape_->buffers[static_cast<std::size_t>(buffer)].version_bumps;
}

void Recording::changes(const Variable& x) {
  if (found(x)) changed_.try_emplace(x.impl(), Changed{x, autograd::state_of(*x.impl())});
}

// Refuses a function that leaves a tensor changed. A change that the function undoes is allowed, for example
// a temporary freeze of a network.
void Recording::refuse_changes() {
  for (const auto& [impl, each] : changed_)
    if (autograd::state_of(*each.x.impl()) != each.state)
      refuse(
          "it gives a captured tensor another shape, or other memory, requires_grad, hooks or history; do "
          "that "
          "outside the function");
}

// Calls visit(node) for every node that the root reaches. A visit that returns false ends its path.
template <class Visit>
void Recording::visit_graph(const Variable& root, const Visit& visit) {
  std::vector<const autograd::Node*> left = {root.grad_fn().get()};
  while (!left.empty()) {
    const autograd::Node* const node = left.back();
    left.pop_back();
    if (!node || !visit(*node)) continue;
    for (const autograd::Edge& edge : node->next_edges()) left.push_back(edge.function.get());
  }
}

// The backward pass must not leave the function's own graph. Earlier nodes may have saved tensors and hooks
// whose changes cannot be detected.
void Recording::backward_begins(const Variable& root) {
  visit_graph(root, [&](const autograd::Node& node) {
    if (!walking_.insert(node.sequence_nr()).second) return false;
    if (node.sequence_nr() < first_node_)
      refuse(
          "it runs backward through a graph that was recorded outside; record that graph within the "
          "function");
    return true;
  });
}

void Recording::backward_ended(const Variable& root) {
  visit_graph(root, [&](const autograd::Node& node) { return walked_.insert(node.sequence_nr()).second; });
}

TensorRef Recording::refer_to(const Variable& x) {
  if (!x.defined()) return {};
  const Ref<Storage>& storage = x.array().storage();
  const int at = buffer_of(storage);
  Buffer& buffer = tape_->buffers[static_cast<std::size_t>(at)];
  if (buffer.kind == Buffer::Kind::temporary) {
    if (buffer.first < 0)
      make_constant(buffer, *storage);
    else
      buffer.kind = Buffer::Kind::result;
  }
  buffer.returned = true;
  sign(&at, sizeof(at));
  sign_geometry(x.array(), buffer);
  return {at, on_placeholder(at, x.array())};
}

TapeOutput Recording::output(const Variable& x, const std::vector<Variable>& outputs) {
  TapeOutput out;
  if (x.defined()) {
    const bool in_graph = x.requires_grad();
    if (in_graph && (x.is_leaf() || found(x) || !walked_.contains(x.grad_fn()->sequence_nr())))
      refuse("a result is part of a graph; call backward() within the function, or detach() the result");
    if (!found(x) && autograd::gradient_of(x).defined())
      refuse("a result has a gradient; return the gradient as a separate result");
    if (!reason_.empty()) return out;
    // Detaches the output, because its graph may still hold saved tensors. The function's backward pass has
    // already used the graph.
    if (!x.is_leaf() && !x.is_view()) x.detach_();
    out.inference = x.is_inference();
    const auto same = [&](const Variable& other) { return other.impl() == x.impl(); };
    const auto at = std::find_if(inputs_.begin(), inputs_.end(), same);
    const auto before = std::find_if(outputs.begin(), outputs.end(), same);
    if (at != inputs_.end())
      out.input = static_cast<int>(at - inputs_.begin());
    else if (static_cast<std::size_t>(before - outputs.begin()) < tape_->outputs.size())
      out.earlier = static_cast<int>(before - outputs.begin());
    else if (found(x))
      out.found = Borrowed(x);
  }
  const VariableImpl* const which = out.found->impl();
  sign(&out.input, sizeof(out.input));
  sign(&out.earlier, sizeof(out.earlier));
  sign(&which, sizeof(which));
  sign(&out.inference, sizeof(out.inference));
  out.tensor = refer_to(x);
  release_if_noticed(out.found);
  return out;
}

// Stops keeping a tensor alive if the tape can detect its destruction. This is possible if the tensor is in
// captured memory and older than the recording.
void Recording::release_if_noticed(Borrowed& x) {
  if (!x->defined() || !found(*x)) return;
  const int buffer = buffer_of(x->array().storage());
  if (tape_->buffers[static_cast<std::size_t>(buffer)].kind == Buffer::Kind::captured) x.release();
}

std::unique_ptr<Tape> Recording::finish(const std::vector<Variable>& outputs) {
  tape_->marks.push_back({tape_->signature.size(), ""});
  for (const Variable& x : outputs) {
    tape_->outputs.push_back(output(x, outputs));
    if (!reason_.empty()) return nullptr;
  }
  finish_gradients();
  refuse_escaping(outputs);
  sort_buffers();
  note_no_alias();
  if (!reason_.empty()) return nullptr;
  detail::tape_recorded(number_);
  watch_queried();
  for (const int at : tape_->captured) {
    Buffer& buffer = tape_->buffers[static_cast<std::size_t>(at)];
    buffer.known = detail::ReadState(*buffer.found, number_);
  }
  return std::move(tape_);
}

}  // namespace ebb::detail::compile
