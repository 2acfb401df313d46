// The blocks of a grid and the limits of their dynamic shared memory. Fibers: the first switch to a fiber
// uses ucontext, and later ones use _setjmp and _longjmp, which make no system call.
#undef _FORTIFY_SOURCE  // its longjmp refuses to jump to another stack
#include "cuda/emu/runtime/block.h"

#include <ebb/core/error.h>

#include "cuda/emu/runtime/state.h"

#include <cuda_runtime.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace ebb::emu {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 17;
constexpr std::size_t kMaxThreads = 1024;

// The order in which concurrent work of a device runs here. A kernel with a missing barrier may be correct in
// one order and wrong in another.
enum class Order : std::uint8_t { forward, reverse, shuffle };

Order chosen_order() {
  const char* const name = std::getenv("EBB_EMU_ORDER");
  if (!name || std::string_view(name) == "forward") return Order::forward;
  if (std::string_view(name) == "reverse") return Order::reverse;
  EBB_CHECK(std::string_view(name) == "shuffle", "EBB_EMU_ORDER=", name,
            " is none of forward, reverse and shuffle.");
  return Order::shuffle;
}

// The numbers 0 ... count - 1 in the selected order, new for each call.
class Sequence {
 public:
  const std::vector<unsigned>& operator()(unsigned count) {
    static const Order order = chosen_order();
    if (numbers_.size() != count) {
      numbers_.resize(count);
      std::iota(numbers_.begin(), numbers_.end(), 0u);
      if (order == Order::reverse) std::reverse(numbers_.begin(), numbers_.end());
    }
    if (order == Order::shuffle) std::shuffle(numbers_.begin(), numbers_.end(), random_);
    return numbers_;
  }
  // Whether a warp is delayed in this round, as can happen on a device.
  bool stays() {
    static const Order order = chosen_order();
    return order == Order::shuffle && random_() % 2 == 0;
  }

 private:
  std::vector<unsigned> numbers_;
  std::minstd_rand random_;
};

enum class State : std::uint8_t { ready, at_block, at_warp, ended };

struct Fibre {
  jmp_buf context;
  ucontext_t start;
  State state = State::ended;
  bool started = false;
  bool odd = false;  // the exchange buffer that it uses next
  uint3 thread{};
  void* fake_stack = nullptr;  // of AddressSanitizer
};

// The fibers of the block that runs on a CPU thread; one object for each thread.
class Block {
 public:
  ~Block() {
    if (stacks_) munmap(stacks_, kStackBytes * kMaxThreads);
  }

  void run(unsigned threads, dim3 shape, const std::function<void()>& body, std::size_t shared_bytes) {
    EBB_CHECK(threads > 0 && threads <= kMaxThreads, "emulated launch: a block of ", threads,
              " threads; a block holds 1 to 1024.");
    if (fibres_.size() < threads) fibres_.resize(threads);
    if (shared_.size() * sizeof(std::max_align_t) < shared_bytes)
      shared_.resize((shared_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    body_ = &body;
    count_ = threads;
    for (unsigned i = 0; i < threads; ++i) {
      Fibre& f = *fibre(i);
      f.state = State::ready;
      f.odd = false;
      f.thread = {i % shape.x, i / shape.x % shape.y, i / (shape.x * shape.y)};
    }
    try {
      while (turn()) {
      }
    } catch (...) {
      for (const auto& f : fibres_)
        if (f) f->started = false;  // they are suspended inside this body
      throw;
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void wait(State state) {
    current_->state = state;
    leave();
  }
  void* shared() { return shared_.data(); }
  int lane() const { return static_cast<int>(index_ % 32); }
  std::uint64_t& exchange(int lane) {
    return exchange_[current_->odd][index_ / 32 * 32 + static_cast<unsigned>(lane)];
  }
  void turn_exchange() { current_->odd = !current_->odd; }

 private:
  Fibre* fibre(unsigned i) {
    if (!fibres_[i]) fibres_[i] = std::make_unique<Fibre>();
    return fibres_[i].get();
  }

  // Runs every ready fiber up to its next barrier, then opens the barriers that all have reached. Returns
  // false at the end.
  bool turn() {
    bool ran = false, alive = false, waited = false;
    for (bool& warp : stays_) warp = sequence_.stays();
    for (const unsigned i : sequence_(count_)) {
      if (fibres_[i]->state != State::ready) continue;
      if (stays_[i / 32]) {
        waited = true;
        continue;
      }
      index_ = i;
      current_ = fibres_[i].get();
      threadIdx = current_->thread;
      enter();
      ran = true;
    }
    bool all_at_block = true;
    for (unsigned i = 0; i < count_; ++i) {
      alive |= fibres_[i]->state != State::ended;
      all_at_block &= fibres_[i]->state == State::ended || fibres_[i]->state == State::at_block;
    }
    if (!alive) return false;
    EBB_CHECK(
        ran || waited,
        "emulated launch: threads of one block wait for each other for ever: some at __syncthreads, others ",
        "at a warp barrier.");
    for (unsigned first = 0; first < count_; first += 32) {
      const unsigned end = std::min(first + 32, count_);
      bool all_at_warp = true;
      for (unsigned i = first; i < end; ++i)
        all_at_warp &= fibres_[i]->state == State::ended || fibres_[i]->state == State::at_warp;
      for (unsigned i = first; all_at_warp && i < end; ++i)
        if (fibres_[i]->state == State::at_warp) fibres_[i]->state = State::ready;
    }
    for (unsigned i = 0; all_at_block && i < count_; ++i)
      if (fibres_[i]->state == State::at_block) fibres_[i]->state = State::ready;
    return true;
  }

  char* stack_of(unsigned i) { return stacks_ + kStackBytes * i; }

  void enter() {
    if (!stacks_) allocate_stacks();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake_stack_, stack_of(index_), kStackBytes);
#endif
    if (_setjmp(scheduler_) == 0) {
      if (current_->started) _longjmp(current_->context, 1);
      begin();
    }
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
  }

  void allocate_stacks() {
    void* p = mmap(nullptr, kStackBytes * kMaxThreads, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EBB_CHECK(p != MAP_FAILED, "emulated launch: no memory for the stacks of a block.");
    stacks_ = static_cast<char*>(p);
  }

  void begin() {
    current_->started = true;
    getcontext(&current_->start);
    current_->start.uc_stack.ss_sp = stack_of(index_);
    current_->start.uc_stack.ss_size = kStackBytes;
    current_->start.uc_link = nullptr;
    makecontext(&current_->start, &Block::fibre_main, 0);
    setcontext(&current_->start);
  }

  void leave() {
    Fibre* const self = current_;
    if (_setjmp(self->context) == 0) {
#if defined(__SANITIZE_ADDRESS__)
      __sanitizer_start_switch_fiber(&self->fake_stack, scheduler_bottom_, scheduler_size_);
#endif
      _longjmp(scheduler_, 1);
    }
    arrived();
  }

  void arrived() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(current_->fake_stack, &scheduler_bottom_, &scheduler_size_);
#endif
  }

  static void fibre_main();

  std::vector<std::unique_ptr<Fibre>> fibres_;
  Sequence sequence_;
  bool stays_[kMaxThreads / 32] = {};
  std::vector<std::max_align_t> shared_;
  std::uint64_t exchange_[2][kMaxThreads] = {};
  char* stacks_ = nullptr;
  jmp_buf scheduler_;
  void* fake_stack_ = nullptr;  // used by AddressSanitizer, like the following members
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_size_ = 0;
  Fibre* current_ = nullptr;
  unsigned index_ = 0;
  unsigned count_ = 0;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr failure_;
};

Block& block() {
  static thread_local Block the_block;
  return the_block;
}

// A fiber outlives the block that created it, and waits for its next body.
void Block::fibre_main() {
  Block& b = block();
  b.arrived();
  for (;;) {
    try {
      (*b.body_)();
    } catch (...) {
      b.failure_ = std::current_exception();
    }
    b.wait(State::ended);
  }
}

}  // namespace

void run_grid(dim3 blocks, dim3 threads, std::size_t shared_bytes, bool independent,
              const std::function<void()>& body) {
  const unsigned count = threads.x * threads.y * threads.z;
  gridDim = blocks;
  blockDim = threads;
  static thread_local Sequence of_blocks, of_threads;
  for (const unsigned b : of_blocks(blocks.x * blocks.y * blocks.z)) {
    blockIdx = {b % blocks.x, b / blocks.x % blocks.y, b / (blocks.x * blocks.y)};
    if (!independent) {
      block().run(count, threads, body, shared_bytes);
      continue;
    }
    for (const unsigned i : of_threads(count)) {
      threadIdx = {i % threads.x, i / threads.x % threads.y, i / (threads.x * threads.y)};
      body();
    }
  }
}

void* shared_memory() { return block().shared(); }
void wait_for_block() { block().wait(State::at_block); }
void wait_for_warp() { block().wait(State::at_warp); }
int lane() { return block().lane(); }
std::uint64_t& exchange_of(int lane) { return block().exchange(lane); }
void turn_exchange() { block().turn_exchange(); }

// Limits of the dynamic shared memory of a block.

namespace {

constexpr std::size_t kUnasked = 48 << 10, kMost = 227 << 10;

std::atomic<long> calls{0};
std::mutex mutex;  // guards the following members

std::map<std::pair<int, const void*>, std::size_t>& allowed() {
  static auto* const all = new std::map<std::pair<int, const void*>, std::size_t>();
  return *all;
}

}  // namespace

long attribute_calls() { return calls; }

cudaError_t check_shared_bytes(const void* kernel, std::size_t bytes) {
  if (bytes <= kUnasked) [[likely]]
    return cudaSuccess;
  const std::lock_guard lock(mutex);
  const auto found = allowed().find({current_device_index(), kernel});
  return found != allowed().end() && found->second >= bytes ? cudaSuccess : set_error(cudaErrorInvalidValue);
}

}  // namespace ebb::emu

using namespace ebb::emu;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  ++calls;
  if (const cudaError_t error = injected_error()) return error;
  if (value < 0 || static_cast<std::size_t>(value) > kMost) return set_error(cudaErrorInvalidValue);
  {
    const std::lock_guard lock(mutex);
    allowed().insert_or_assign({current_device_index(), kernel}, static_cast<std::size_t>(value));
  }
  std::this_thread::sleep_for(
      std::chrono::microseconds(20));  // simulates a driver call, during which other threads run
  return cudaSuccess;
}
