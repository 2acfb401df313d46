// Records what runs as a tape.

#include <ebb/autograd/grad_mode.h>

#include "autograd/tensor_state.h"
#include "autograd/thread_state.h"
#include "compile/record.h"
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
    tape_->input_offsets.push_back(x.defined() ? x.storage_offset() : 0);
    if (!x.defined() || known_.contains(x.array().storage().get())) continue;
    const Ref<Storage>& storage = x.array().storage();
    const int place = add_place(Place::Kind::input, *storage);
    tape_->places[static_cast<std::size_t>(place)].input = static_cast<int>(i);
    known_[storage.get()] = {place, 0};
  }
}

Recording::~Recording() {
  detail::forget_made(*this);
  detail::end_recording();
}

void Recording::print(const void* bytes, std::size_t count) {
  tape_->print.append(static_cast<const char*>(bytes), count);
}

// The offset counts from the argument's own, so that arguments may lie anywhere in their memory.
void Recording::print_geometry(const NdArray& array, const Place& place) {
  const bool is_input = place.kind == Place::Kind::input;
  const std::int64_t offset =
      array.offset() - (is_input ? tape_->input_offsets[static_cast<std::size_t>(place.input)] : 0);
  const DType dtype = array.dtype();
  const std::size_t dims = array.sizes().size();
  print(&offset, sizeof(offset));
  print(&dtype, sizeof(dtype));
  print(&dims, sizeof(dims));
  print(array.sizes().data(), dims * sizeof(std::int64_t));
  print(array.strides().data(), dims * sizeof(std::int64_t));
}

int Recording::known(const Storage* storage) const {
  const auto found = known_.find(storage);
  if (found == known_.end()) return -1;
  const Known& k = found->second;
  return k.serial == 0 || k.serial == detail::made_by(*this, storage) ? k.place : -1;
}

int Recording::add_place(Place::Kind kind, const Storage& storage) {
  Place place;
  place.kind = kind;
  place.bytes = storage.bytes();
  const detail::RecorderScope not_recorded(nullptr);
  place.stand_in = Storage::adopt(nullptr, storage.bytes(), storage.device(), nullptr, nullptr);
  tape_->places.push_back(std::move(place));
  print(&kind, sizeof(kind));
  return static_cast<int>(tape_->places.size()) - 1;
}

int Recording::place_of(const Ref<Storage>& storage) {
  int place = known(storage.get());
  if (place >= 0) return place;
  const std::uint64_t serial = detail::made_by(*this, storage.get());
  if (serial != 0) {
    place = add_place(Place::Kind::inner, *storage);
  } else {
    place = add_place(Place::Kind::outside, *storage);
    tape_->places.back().found = detail::read_by_tape(storage, number_);
    const Storage* const address = storage.get();
    print(&address, sizeof(address));
  }
  known_[storage.get()] = {place, serial};
  return place;
}

// The place is used by the call that comes now.
void Recording::touch(int at, bool written) {
  Place& place = tape_->places[static_cast<std::size_t>(at)];
  const auto now = static_cast<int>(tape_->calls.size());
  if (place.first < 0) place.first = now;
  place.last = now;
  place.written = place.written || written;
}

NdArray Recording::on_stand_in(int place, const NdArray& array) const {
  return NdArray(tape_->places[static_cast<std::size_t>(place)].stand_in, DimVector(array.sizes()),
                 DimVector(array.strides()), array.offset(), array.dtype());
}

// Puts the tape's arrays into a call's arguments.
class Recording::Keeper final : public ArgumentVisitor {
 public:
  explicit Keeper(Recording& recording) : r_(recording) {}

  void array(NdArray& array) override {
    r_.given_.push_back(array);
    if (array.defined()) {
      const int place = use(array.storage());
      plain_value(place);
      r_.print_geometry(array, r_.tape_->places[static_cast<std::size_t>(place)]);
      array = r_.on_stand_in(place, array);
      r_.stood_in_.push_back({place, array});
    } else {
      plain_value(-1);
      r_.stood_in_.emplace_back();
    }
  }
  void address(void*& at) override {
    if (!at) return;
    const auto* const address = static_cast<const char*>(at);
    auto found = r_.addresses_.upper_bound(address);
    if (found == r_.addresses_.begin() || address > (--found)->first + found->second.bytes)
      return r_.refuse("a kernel was given memory of which nothing is known");
    const int place = found->second.place;
    r_.touch(place, true);
    plain_value(place);
    const auto offset = static_cast<std::size_t>(address - found->first);
    plain_value(offset);
    r_.call_.addresses.push_back({&at, place, offset});
  }
  void words(Philox& philox) override {
    const auto found = r_.draws_.find({philox.seed, philox.call});
    if (found != r_.draws_.end()) {
      r_.call_.words.push_back({&philox, found->second.kept});
      plain_value(found->second.number);
    } else if (!written) {
      r_.refuse("a kernel was given random words that no kernel drew");
    }
  }
  void plain(const void* bytes, std::size_t count) override { r_.print(bytes, count); }

 private:
  template <class T>
  void plain_value(const T& value) {
    plain(&value, sizeof(value));
  }

  // What the host wrote, or nobody, is a constant from the first use on.
  int use(const Ref<Storage>& storage) {
    const int place = r_.place_of(storage);
    Place& p = r_.tape_->places[static_cast<std::size_t>(place)];
    if (p.kind == Place::Kind::inner && p.first < 0) {
      const auto found = r_.written_by_host_.find(storage.get());
      const bool by_host =
          found != r_.written_by_host_.end() && found->second == detail::made_by(r_, storage.get());
      if (!written || by_host) r_.make_constant(p, *storage);
    }
    r_.touch(place, written);
    return place;
  }

  Recording& r_;
};

void Recording::make_constant(Place& place, const Storage& storage) {
  place.kind = Place::Kind::constant;
  place.numbers.resize(storage.bytes());
  copy_bytes(place.numbers.data(), kCPU, storage.data(), storage.device(), storage.bytes());
  print(place.numbers.data(), place.numbers.size());
}

// After the call: what its kernel put itself, and what it drew.
class Recording::Matcher final : public ArgumentVisitor {
 public:
  explicit Matcher(Recording& recording) : r_(recording) {}

  void array(NdArray& array) override {
    const std::size_t at = seen_++;
    if (at >= r_.given_.size() || !written || !array.defined()) return;
    const NdArray& given = r_.given_[at];
    if (given.defined() && given.storage() == array.storage()) return;
    if (r_.known(array.storage().get()) >= 0) return;
    detail::storage_made(*array.storage());
    const int place = r_.place_of(array.storage());
    r_.tape_->places[static_cast<std::size_t>(place)].kind = Place::Kind::by_call;
    r_.touch(place, true);
    r_.call_.made.push_back({at, place, r_.stood_in_[at].array});
  }
  void address(void*&) override {}
  void words(Philox& philox) override {
    if (written && !r_.draws_.contains({philox.seed, philox.call})) drawn = philox;
  }
  void plain(const void*, std::size_t) override {}

  std::optional<Philox> drawn;

 private:
  Recording& r_;
  std::size_t seen_ = 0;
};

// The words that a call draws, as it keeps them.
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
  tape_->marks.push_back({tape_->print.size(), kept.name()});
  print(kept.name(), std::strlen(kept.name()));
  given_.clear();
  stood_in_.clear();
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

void Recording::sort_places() {
  for (std::size_t i = 0; i < tape_->places.size(); ++i) {
    const auto at = static_cast<int>(i);
    switch (tape_->places[i].kind) {
      case Place::Kind::input:
        tape_->arguments.push_back(at);
        break;
      case Place::Kind::outside:
        tape_->outside.push_back(at);
        break;
      case Place::Kind::result:
      case Place::Kind::constant:
        tape_->own.push_back(at);
        break;
      case Place::Kind::inner:
      case Place::Kind::passing:
      case Place::Kind::by_call:
        break;
    }
  }
}

// Captured tensors stay where they are; arguments may lie anywhere in the next call.
void Recording::note_apart() {
  const auto place = [&](int at) -> const Place& { return tape_->places[static_cast<std::size_t>(at)]; };
  const auto note = [&](int a, int b) {
    if (a != b && (place(a).written || place(b).written)) tape_->apart.emplace_back(a, b);
  };
  for (auto a = tape_->arguments.begin(); a != tape_->arguments.end(); ++a) {
    for (auto b = a + 1; b != tape_->arguments.end(); ++b) note(*a, *b);
    for (const int b : tape_->outside) note(*a, b);
  }
  // In the order of their addresses, so that few pairs are compared.
  std::vector<int> by_address = tape_->outside;
  const auto begin_of = [&](int at) { return static_cast<const char*>(place(at).found->storage->data()); };
  std::sort(by_address.begin(), by_address.end(), [&](int a, int b) { return begin_of(a) < begin_of(b); });
  for (std::size_t i = 0; i < by_address.size(); ++i)
    for (std::size_t j = i + 1; j < by_address.size(); ++j) {
      const Place &a = place(by_address[i]), &b = place(by_address[j]);
      if (begin_of(by_address[j]) >= begin_of(by_address[i]) + a.bytes) break;
      if ((a.written || b.written) && overlap(*a.found->storage, *b.found->storage))
        refuse("it writes to a captured tensor whose memory another one has too, as data() does");
    }
}

void Recording::refuse(const std::string& reason) {
  if (reason_.empty()) reason_ = reason;
}

void Recording::will_touch(const NdArray& array) {
  const int place = place_of(array.storage());
  addresses_[static_cast<const char*>(array.storage()->data())] = {place, array.storage()->bytes()};
}

void Recording::reaches(const NdArray& array, std::int64_t end, bool from_own_offset) {
  const int at = known(array.storage().get());
  if (at < 0) return;
  Place& place = tape_->places[static_cast<std::size_t>(at)];
  if (place.kind != Place::Kind::input) return;
  const NdArray& input = inputs_[static_cast<std::size_t>(place.input)].array();
  const std::int64_t begin = input.offset() * element_size(input.dtype());
  place.reach = std::max(place.reach, end - begin);
  place.fixed = place.fixed || !from_own_offset;
}

void Recording::host_access(const Storage& storage) {
  const std::uint64_t serial = detail::made_by(*this, &storage);
  const int place = known(&storage);
  if (serial != 0 && (place < 0 || tape_->places[static_cast<std::size_t>(place)].first < 0)) {
    written_by_host_[&storage] = serial;
    return;
  }
  refuse("the host reads or writes elements of a tensor (item(), a condition, printing, data_ptr())");
}

void Recording::bumped(const Ref<Storage>& storage) {
  int place = known(storage.get());
  // No call has touched it where the write was of no element, or of elements to themselves.
  if (place < 0 && detail::made_by(*this, storage.get()) == 0) place = place_of(storage);
  if (place >= 0) ++tape_->places[static_cast<std::size_t>(place)].bumps;
}

void Recording::changes(const Variable& x) {
  if (found(x)) changed_.try_emplace(x.impl(), Changed{x, autograd::state_of(*x.impl())});
}

// A change that the function takes back, as freezing a network for a while, is none.
void Recording::refuse_changes() {
  for (const auto& [impl, each] : changed_)
    if (autograd::state_of(*each.x.impl()) != each.state)
      refuse(
          "it leaves a tensor that it found with another shape, other memory, requires_grad, hooks or "
          "history; do that outside");
}

// Calls visit(node) for every node below the root, until that says that it has been there.
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

// Tensors that nodes saved before the function ran, and the hooks of such nodes, may change without a trace.
void Recording::walks(const Variable& root) {
  visit_graph(root, [&](const autograd::Node& node) {
    if (!walking_.insert(node.sequence_nr()).second) return false;
    if (node.sequence_nr() < first_node_)
      refuse("it walks a graph that was recorded outside; compute that within the function");
    return true;
  });
}

void Recording::walked(const Variable& root) {
  visit_graph(root, [&](const autograd::Node& node) { return walked_.insert(node.sequence_nr()).second; });
}

Seen Recording::seen(const Variable& x) {
  if (!x.defined()) return {};
  const Ref<Storage>& storage = x.array().storage();
  const int at = place_of(storage);
  Place& place = tape_->places[static_cast<std::size_t>(at)];
  if (place.kind == Place::Kind::inner) {
    if (place.first < 0)
      make_constant(place, *storage);
    else
      place.kind = Place::Kind::result;
  }
  place.given_out = true;
  print(&at, sizeof(at));
  print_geometry(x.array(), place);
  return {at, on_stand_in(at, x.array())};
}

TapeOutput Recording::output(const Variable& x, const std::vector<Variable>& outputs) {
  TapeOutput out;
  if (x.defined()) {
    const bool in_graph = x.requires_grad();
    if (in_graph && (x.is_leaf() || found(x) || !walked_.contains(x.grad_fn()->sequence_nr())))
      refuse("a result is part of a graph; call backward() within the function, or detach() it");
    if (!found(x) && autograd::gradient_of(x).defined())
      refuse("a result has a gradient; return that as a result of its own");
    if (!reason_.empty()) return out;
    // Its graph, walked as it is, may still hold what it computed with.
    if (!x.is_leaf() && !x.is_view()) x.detach_();
    out.inference = x.is_inference();
    const auto same = [&](const Variable& other) { return other.is_same(x); };
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
  print(&out.input, sizeof(out.input));
  print(&out.earlier, sizeof(out.earlier));
  print(&which, sizeof(which));
  print(&out.inference, sizeof(out.inference));
  out.seen = seen(x);
  let_go(out.found);
  return out;
}

// The tape lets go only if it learns of the destruction: the tensor lies in captured memory and is old
// enough.
void Recording::let_go(Borrowed& x) {
  if (!x->defined() || !found(*x) || x->impl()->born % 2 != 0) return;
  const int place = place_of(x->array().storage());
  if (tape_->places[static_cast<std::size_t>(place)].kind == Place::Kind::outside) x.let_go();
}

// Refuses a function that computed a tensor which somebody keeps whom the tape does not know.
void Recording::refuse_kept() {
  for (const auto& [storage, k] : known_) {
    const Place& place = tape_->places[static_cast<std::size_t>(k.place)];
    if (k.serial == 0 || k.serial != detail::made_by(*this, storage)) continue;
    const bool computed = (place.kind == Place::Kind::inner && place.first >= 0) ||
                          (place.kind == Place::Kind::by_call && !place.given_out);
    if (computed)
      refuse(detail::text(
          "a tensor that it made (", tape_->calls[static_cast<std::size_t>(place.first)].call->name(), ", ",
          std::uint64_t{place.bytes}, " bytes) is kept elsewhere than in its results and gradients"));
  }
}

std::unique_ptr<Tape> Recording::finish(const std::vector<Variable>& outputs) {
  tape_->marks.push_back({tape_->print.size(), ""});
  for (const Variable& x : outputs) {
    tape_->outputs.push_back(output(x, outputs));
    if (!reason_.empty()) return nullptr;
  }
  finish_gradients();
  refuse_kept();
  sort_places();
  note_apart();
  if (!reason_.empty()) return nullptr;
  detail::tape_recorded(number_);
  for (const int at : tape_->outside) {
    Place& place = tape_->places[static_cast<std::size_t>(at)];
    place.known = detail::ReadState(*place.found, number_);
  }
  return std::move(tape_);
}

}  // namespace ebb::detail::compile
