// Specializations: the key of a call, and the state of all calls of one key.

#include <ebb/autograd/autocast_setting.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/deterministic.h>
#include <ebb/core/warning.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "compile/emit.h"
#include "compile/fuse.h"
#include "compile/record.h"
#include "compile/tape.h"
#include "core/tape_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ebb::detail::compile {
namespace {

// Writes the bytes of values to a string of sufficient size. This is faster than append(): to append each
// value would take longer than a small replay.
class Writer {
 public:
  /// Overwrites the text, with at most `most` bytes.
  Writer(std::string& text, std::size_t most) : text_(text) {
    text_.resize(most);
    at_ = text_.data();
  }
  template <class T>
  void put(const T& value) {
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }
  void put(const std::string& bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void end() { text_.resize(static_cast<std::size_t>(at_ - text_.data())); }

 private:
  std::string& text_;
  char* at_;
};

// Upper bounds of the number of bytes of the modes, and of a tensor without its sizes, strides and hooks.
constexpr std::size_t kModes = 64, kTensor = 96;

// Returns the index of the first tensor for which `same` is true.
template <class Same>
std::size_t first_of(const std::vector<Variable>& tensors, const Same& same) {
  std::size_t at = 0;
  while (!(tensors[at].defined() && same(tensors[at]))) ++at;
  return at;
}

std::size_t most_bytes(const Variable& x) {
  if (!x.defined()) return kTensor;
  const autograd::AutogradMeta* const meta = autograd::meta_or_null(x);
  const std::size_t numbers = 2 * x.array().sizes().size() + (meta ? meta->hooks.size() : 0);
  return kTensor + numbers * sizeof(std::uint64_t);
}

void write_tensor(Writer& key, const Variable& x, const std::vector<Variable>& tensors) {
  const NdArray& array = x.array();
  key.put(array.dtype());
  key.put(array.device().type());
  key.put(array.device().index());
  key.put(x.requires_grad());
  key.put(x.is_inference());
  key.put(array.dim());
  for (const std::int64_t size : array.sizes()) key.put(size);
  for (const std::int64_t stride : array.strides()) key.put(stride);
  const std::size_t aliased = first_of(tensors, [&](const Variable& other) { return other.is_alias_of(x); });
  key.put(aliased);
  key.put(array.offset() - tensors[aliased].array().offset());
  key.put(first_of(tensors, [&](const Variable& other) { return other.impl() == x.impl(); }));
  const autograd::AutogradMeta* const meta = autograd::meta_or_null(x);
  const bool is_view = meta && meta->base.defined();
  key.put(is_view);
  if (is_view) key.put(meta->kind);
  const std::size_t hooks = meta ? meta->hooks.size() : 0;
  key.put(hooks);
  for (std::size_t i = 0; i < hooks; ++i) key.put(meta->hooks[i].serial);
}

void write_modes(Writer& key) {
  key.put(GradMode::is_enabled());
  key.put(InferenceMode::is_enabled());
  key.put(are_deterministic_algorithms_enabled());
  key.put(detail::settings_fingerprint() ^ detail::changes_of_tensors());
  const autograd::AutocastSetting autocast = autograd::AutocastSetting::now();
  key.put(autocast.devices);
  for (const DType each : autocast.dtypes) key.put(each);
  key.put(get_default_dtype());
}

}  // namespace

std::string key_of_modes() {
  std::string text;
  Writer key(text, kModes);
  write_modes(key);
  key.end();
  return text;
}

void key_of_call(const std::vector<Variable>& tensors, const std::string& numbers, std::string& text) {
  std::size_t most = kModes + numbers.size();
  for (const Variable& x : tensors) {
    most += most_bytes(x);
    if (x.defined()) detail::forget_changes(autograd::aged(*x.impl()));
  }
  Writer key(text, most);
  write_modes(key);
  key.put(numbers);
  for (const Variable& x : tensors) {
    key.put(x.defined());
    if (x.defined()) write_tensor(key, x, tensors);
  }
  key.end();
}

namespace {

constexpr int kMostRecordings = 6;  // consecutive recordings that all differ
constexpr int kMostRefusals = 3;    // consecutive refusals; the first calls may create objects of later calls
constexpr int kMostUnusedTapes = 3;            // consecutive tapes that are dropped before a replay
constexpr std::size_t kMostPastArguments = 8;  // tensors that are remembered as past arguments

std::string first_difference(const Tape& a, const Tape& b) {
  const std::size_t calls = std::min(a.marks.size(), b.marks.size()) - 1;  // the last mark is the end
  for (std::size_t i = 0; i < calls; ++i) {
    const auto signature_of = [i](const Tape& t) {
      return std::string_view(t.signature)
          .substr(t.marks[i].offset, t.marks[i + 1].offset - t.marks[i].offset);
    };
    if (signature_of(a) != signature_of(b))
      return detail::text("two calls in a row did different things, first at kernel call ", std::uint64_t{i},
                          ": ", a.marks[i].name, " and ", b.marks[i].name);
  }
  if (a.marks.size() != b.marks.size())
    return detail::text("two calls in a row did different things: ", std::uint64_t{a.marks.size() - 1},
                        " and ", std::uint64_t{b.marks.size() - 1}, " kernel calls");
  return "two calls in a row left different results or gradients";
}

}  // namespace

Specialization::Specialization(std::string with) : key(std::move(with)) {}
Specialization::~Specialization() = default;

bool Specialization::fits(const std::vector<Variable>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Input& input = inputs_[i];
    if (!input.same_memory || !tensors[i].defined()) continue;
    if (tensors[i].array().storage() != input.memory->storage) return false;
    if (input.same_offset && tensors[i].array().offset() != input.offset) return false;
    if (input.memory->state != input.known.state || !only_past_arguments_are_gone(input)) return false;
    note_past_argument(input.memory.get(), tensors[i]);
  }
  return holds(*replayed, tensors);
}

// Records a tensor that was an argument. Omits a tensor that is younger than the recording, because the
// destruction of such a tensor is not counted.
void Specialization::note_past_argument(const detail::ReadStorage* memory, const Variable& x) {
  if (!detail::is_older(x.impl()->born, memory->recording)) return;
  const std::uint64_t which = detail::number_of(autograd::aged(*x.impl()));
  const auto same = [&](const PastArgument& each) { return each.memory == memory && each.which == which; };
  if (std::any_of(past_arguments_.begin(), past_arguments_.end(), same)) return;
  if (past_arguments_.size() == kMostPastArguments) past_arguments_.erase(past_arguments_.begin());
  past_arguments_.push_back({memory, which});
}

// Returns whether past arguments explain all destroyed tensors. Tries all subsets of the past arguments,
// which are few.
bool Specialization::only_past_arguments_are_gone(Input& input) {
  if (input.known.none_gone(*input.memory)) return true;
  std::vector<std::uint64_t> passed;
  for (const PastArgument& each : past_arguments_)
    if (each.memory == input.memory.get()) passed.push_back(each.which);
  const std::uint64_t gone = input.known.gone;
  for (std::uint64_t some = 1; some < std::uint64_t{1} << passed.size(); ++some) {
    input.known.gone = gone;
    for (std::size_t i = 0; i < passed.size(); ++i)
      if (some >> i & 1) input.known.gone ^= passed[i];
    if (!input.known.none_gone(*input.memory)) continue;
    for (std::size_t i = 0; i < passed.size(); ++i)
      if (some >> i & 1)
        std::erase_if(past_arguments_, [&](const PastArgument& each) { return each.which == passed[i]; });
    for (Input& each : inputs_)
      if (each.memory == input.memory) each.known = input.known;
    return true;
  }
  input.known.gone = gone;
  return false;
}

void Specialization::stay_eager(const std::string& why) {
  eager = true;
  reason = why;
  replayed.reset();
  last_.reset();
  inputs_.clear();
  past_arguments_.clear();
  warn(Warning("compile: the function stays eager: " + reason + "."));
}

void Specialization::invalidate() {
  unused_tapes_ = replays == 0 ? unused_tapes_ + 1 : 0;
  last_ = std::move(replayed);
  recordings_ = 0;
  reason = "a tensor that it reads has been replaced; it is being recorded again";
  if (unused_tapes_ >= kMostUnusedTapes) stay_eager("a tensor that it reads is replaced in every call");
}

void Specialization::refused(const std::string& why) {
  last_.reset();
  reason = why;
  if (++refusals_ >= kMostRefusals) stay_eager(why);
}

void Specialization::recorded(Recording& recording, const std::vector<Variable>& tensors,
                              const std::vector<Variable>& results, bool fuse_on_devices) {
  std::unique_ptr<Tape> tape = recording.finish(results);
  if (!tape) return refused(recording.reason());
  refusals_ = 0;
  std::vector<Input> now;
  for (const Variable& x : tensors) {
    Input& input = now.emplace_back();
    if (!x.defined()) continue;
    input.memory = detail::read_by_tape(x.array().storage(), recording.number());
    input.offset = x.array().offset();
    note_past_argument(input.memory.get(), x);
  }
  const std::uint32_t before = std::exchange(recorded_, recording.number());
  if (last_ && last_->signature == tape->signature) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      // Counts only the destruction of tensors older than the previous recording. Views that the caller
      // creates for one call are younger.
      if (now[i].memory) now[i].known = detail::ReadState(*now[i].memory, before);
      now[i].same_memory = now[i].memory == inputs_[i].memory;
      now[i].same_offset = now[i].offset == inputs_[i].offset;
      if (!now[i].same_memory) now[i].memory.reset();
    }
    // The known state also detects the destruction of captured tensors in an argument's memory.
    const auto release_if_noticed = [&](Borrowed& x) {
      if (x->defined() && detail::is_older(x->impl()->born, before)) x.release();
    };
    for (TapeLeaf& leaf : tape->leaves) release_if_noticed(leaf.leaf);
    for (TapeOutput& output : tape->outputs) release_if_noticed(output.found);
    adopt(std::move(tape), tensors, fuse_on_devices);
    inputs_ = std::move(now);
    return;
  }
  reason = last_ ? first_difference(*last_, *tape) : "it has not been called twice yet";
  last_ = std::move(tape);
  inputs_ = std::move(now);
  if (++recordings_ >= kMostRecordings) stay_eager(reason);
}

// Prepares the tape for replays, and then installs it. After an exception, the specialization has no tape.
void Specialization::adopt(std::unique_ptr<Tape> tape, const std::vector<Variable>& tensors,
                           bool fuse_on_devices) {
  fuse(*tape, fuse_on_devices);
  plan_memory(*tape);
  prepare_for_device(*tape, tensors);
  arguments = arguments_of(tensors);
  replayed = std::move(tape);
  last_.reset();
  reason.clear();
  recordings_ = 0;
  replays = 0;
}

}  // namespace ebb::detail::compile
