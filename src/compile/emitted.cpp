// Plan, the base class of emitted functions: its memory, its checks, and the call of the function.
#include "compile/emitted.h"

#include <ebb/autograd/grad_mode.h>

#include "core/recorder.h"

#include <algorithm>
#include <cstring>

namespace ebb::emitted {
namespace {

Ref<Storage> placeholder(void* data, std::size_t bytes) {
  return Storage::adopt(data, bytes, kCPU, nullptr, nullptr);
}

void fill(const Storage& memory, const void* bytes) {
  if (memory.bytes() != 0) std::memcpy(memory.data(), bytes, memory.bytes());
}

}  // namespace

Plan::Plan(const char* name, const std::string& weights, std::uint64_t mark, std::size_t arena_bytes,
           std::vector<Argument> arguments)
    : name_(name),
      path_(weights),
      mark_(mark),
      arena_(Storage::allocate(arena_bytes, kCPU)),
      wanted_(std::move(arguments)),
      arguments_(wanted_.size()) {}

Plan::~Plan() = default;

Ref<Storage> Plan::argument(std::size_t which, std::size_t bytes) {
  return arguments_[which] = placeholder(nullptr, bytes);
}

Ref<Storage> Plan::weight(const char* name, std::size_t bytes) {
  if (!file_) {
    file_.emplace(path_);
    const auto mark = file_->metadata().find("emitted_as");
    EBB_CHECK(
        mark == file_->metadata().end() || mark->second == std::to_string(mark_), name_, ": ", path_,
        " was emitted with another source. Pass the file that was emitted with this source, or emit both "
        "again.");
  }
  const Variable x = file_->get_tensor(name);
  const Ref<Storage>& storage = x.array().storage();
  EBB_CHECK(storage->bytes() == bytes, name_, ": ", path_, " has ", std::uint64_t{storage->bytes()},
            " bytes of ", name, ", but the source expects ", std::uint64_t{bytes},
            ". Pass the file that was emitted with this source.");
  return storage;
}

Ref<Storage> Plan::constant(std::size_t bytes, std::initializer_list<std::uint64_t> words) {
  Ref<Storage> memory = Storage::allocate(bytes, kCPU);
  fill(*memory, words.begin());
  return memory;
}

Ref<Storage> Plan::refilled(Ref<Storage> memory) {
  Ref<Storage> numbers = Storage::allocate(memory->bytes(), kCPU);
  fill(*numbers, memory->data());
  refills_.push_back({memory, std::move(numbers)});
  return memory;
}

Ref<Storage> Plan::arena(std::size_t offset, std::size_t bytes) {
  return placeholder(static_cast<char*>(arena_->data()) + offset, bytes);
}

Ref<Storage> Plan::result(std::size_t bytes) {
  results_.push_back({placeholder(nullptr, bytes), nullptr});
  return results_.back().placeholder;
}

void Plan::check(const std::vector<Variable>& arguments) const {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const Argument& want = wanted_[i];
    const Variable& x = arguments[i];
    const auto number = std::uint64_t{i} + 1;
    EBB_CHECK(x.defined() == (want.dtype != DType::Undefined), name_, ": argument ", number,
              x.defined()
                  ? " was undefined when the calls were recorded. Emit another source for a defined argument."
                  : " is undefined. Assign it before use.");
    if (!x.defined()) continue;
    const IntArrayRef sizes = want.sizes, strides = want.strides;
    EBB_CHECK(x.is_cpu() && x.dtype() == want.dtype && x.sizes() == sizes && x.strides() == strides, name_,
              ": argument ", number, " is ", x.dtype(), " ", x.sizes(), " with strides ", x.strides(), " on ",
              x.device(), "; the calls were recorded for ", want.dtype, " ", sizes, " with strides ", strides,
              " on cpu. Convert the argument, or emit another source.");
    for (std::size_t j = 0; j < i; ++j) {
      const Variable& y = arguments[j];
      const bool same = y.defined() && y.is_alias_of(x), shares = want.shares == static_cast<int>(j);
      if (shares)
        EBB_CHECK(same && x.array().offset() - y.array().offset() == want.offset - wanted_[j].offset, name_,
                  ": arguments ", std::uint64_t{j} + 1, " and ", number,
                  " lay on the same memory when the calls were recorded. Pass arguments that share memory in "
                  "the same way, or emit another source.");
      const bool apart = want.shares < 0 || (wanted_[j].shares != want.shares && !shares);
      EBB_CHECK(!(same && apart && (want.writes || wanted_[j].writes)), name_, ": arguments ",
                std::uint64_t{j} + 1, " and ", number,
                " share memory, and one is written to. Pass a clone() of the other.");
    }
  }
}

void Plan::bind_memory(const std::vector<Variable>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments_[i] || !arguments[i].defined()) continue;
    const NdArray& x = arguments[i].array();
    arguments_[i]->move_to(static_cast<char*>(x.storage()->data()) +
                           (x.offset() - wanted_[i].offset) * element_size(x.dtype()));
  }
  for (Result& each : results_) {
    if (each.memory && each.memory->use_count() == 1) continue;
    each.memory = Storage::allocate(each.placeholder->bytes(), kCPU);
    each.placeholder->move_to(each.memory->data());
  }
  for (const Refill& each : refills_) fill(*each.memory, each.numbers->data());
}

std::vector<Variable> Plan::call(const std::vector<Variable>& arguments) {
  struct Claim {
    explicit Claim(Plan& of) : plan(of) {
      EBB_CHECK(!plan.busy_.test_and_set(std::memory_order_acquire), plan.name_,
                ": this object is running already. Construct one for each thread.");
    }
    ~Claim() {
      plan.now_.clear();
      plan.busy_.clear(std::memory_order_release);
    }
    Plan& plan;
  };
  const Claim claim(*this);
  detail::not_replayed("it calls an emitted source");
  const detail::RecorderScope not_recorded(nullptr);
  file_.reset();
  check(arguments);
  bind_memory(arguments);
  now_ = arguments;
  run();
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    for (std::uint32_t k = 0; k < wanted_[i].writes; ++k) arguments[i].array().storage()->bump_version();
  return results();
}

Variable Plan::given(const NdArray& array) const {
  const auto on = [&](const Ref<Storage>& storage, std::int64_t offset) {
    return Variable(
        NdArray(storage, DimVector(array.sizes()), DimVector(array.strides()), offset, array.dtype()));
  };
  for (const Result& each : results_)
    if (each.placeholder == array.storage()) return on(each.memory, array.offset());
  for (std::size_t i = 0; i < now_.size(); ++i)
    if (arguments_[i] && arguments_[i] == array.storage())
      return on(now_[i].array().storage(), array.offset() + now_[i].array().offset() - wanted_[i].offset);
  const NoGradGuard no_graph;
  return on(array.storage(), array.offset()).clone();
}

}  // namespace ebb::emitted
