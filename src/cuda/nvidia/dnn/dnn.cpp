// Runs convolutions by cuDNN. The plans of each shape are kept.
#include "kernel/cuda/dnn.h"

#include <ebb/core/error.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>

#include "core/capture.h"
#include "cuda/nvidia/dnn/plan.h"
#include "cuda/runtime.h"
#include "kernel/lru_cache.h"

namespace ebb::cuda {
namespace {

using dnn::Descriptor;
using dnn::Plan;
using dnn::Problem;

constexpr std::size_t kPlansKept = 1024;                         // a thread
constexpr std::size_t kPlansTimed = 8;                           // a problem
constexpr std::int64_t kWorkspaceBytes = std::int64_t{1} << 30;  // more only where no plan needs less

// What a problem is computed by; without a plan, by the caller's own kernels.
struct Answer {
  std::optional<dnn::Graph> graph;
  std::optional<Plan> plan;
};

// Handles outlive the threads that used them: making one takes milliseconds, and destroying one when the
// program ends is not safe.
class HandlePool {
 public:
  cudnnHandle_t take(std::size_t device) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_[device].empty()) {
        const cudnnHandle_t handle = free_[device].back();
        free_[device].pop_back();
        return handle;
      }
    }
    cudnnHandle_t made = nullptr;
    dnn::check(cudnnCreate(&made), "cudnnCreate");
    return made;
  }
  void give_back(std::size_t device, cudnnHandle_t handle) {
    const std::lock_guard lock(mutex_);
    free_[device].push_back(handle);
  }

 private:
  std::mutex mutex_;
  std::array<std::vector<cudnnHandle_t>, kMaxDevices> free_;
};

HandlePool& handle_pool() {
  static HandlePool* const pool = new HandlePool;
  return *pool;
}

// A thread has its handles and plans: cuDNN does not promise that one plan may run in two threads at once.
struct Library {
  std::array<cudnnHandle_t, kMaxDevices> handles{};
  LruCache<Problem, Answer> answers{kPlansKept};

  cudnnHandle_t handle(Device device) {
    cudnnHandle_t& held = handles[static_cast<std::size_t>(device.index())];
    if (!held) held = handle_pool().take(static_cast<std::size_t>(device.index()));
    dnn::check(cudnnSetStream(held, current_stream(device)), "cudnnSetStream");
    return held;
  }
  ~Library() {
    for (std::size_t d = 0; d < handles.size(); ++d)
      if (handles[d]) handle_pool().give_back(d, handles[d]);
  }
};

void execute(cudnnHandle_t handle, const Plan& plan, const DnnConvolution& c) {
  const Device device = c.in.device();
  const NdArray workspace = plan.workspace > 0 ? NdArray::empty({plan.workspace}, kByte, device) : NdArray();
  const Descriptor pack = dnn::variant_pack(c, workspace.defined() ? workspace.data() : nullptr);
  dnn::check(cudnnBackendExecute(handle, plan.plan.raw(), pack.raw()), "cudnnBackendExecute");
}

bool is_capturing(Device device) {
  if (ebb::detail::current_capture()) return true;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(current_stream(device), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

// An event that measures time.
struct Tick {
  cudaEvent_t event = nullptr;
  Tick() { check(cudaEventCreate(&event), "cudaEventCreate"); }
  ~Tick() { cudaEventDestroy(event); }
  Tick(const Tick&) = delete;
  void record(Device device) { check(cudaEventRecord(event, current_stream(device)), "cudaEventRecord"); }
};

// Milliseconds of a run: the least of three after one that warms up.
float time_of(cudnnHandle_t handle, const Plan& plan, const DnnConvolution& c) {
  const Device device = c.in.device();
  Tick start, stop;
  float best = std::numeric_limits<float>::infinity();
  for (int run = 0; run < 4; ++run) {
    start.record(device);
    execute(handle, plan, c);
    stop.record(device);
    check(cudaEventSynchronize(stop.event), "cudaEventSynchronize");
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, start.event, stop.event), "cudaEventElapsedTime");
    if (run > 0) best = std::min(best, elapsed);
  }
  return best;
}

std::size_t fastest(cudnnHandle_t handle, const std::vector<Plan>& plans, const DnnConvolution& c) {
  std::size_t best = 0;
  float least = std::numeric_limits<float>::infinity();
  std::optional<dnn::Failure> failure;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    try {
      const float time = time_of(handle, plans[i], c);
      if (time < least) least = time, best = i;
    } catch (const dnn::Failure& f) {
      failure = f;
    }
  }
  if (failure && least == std::numeric_limits<float>::infinity()) throw dnn::Failure(*failure);
  return best;
}

Answer answer_to(const Problem& problem, cudnnHandle_t handle, const DnnConvolution& c) {
  Answer answer;
  const dnn::Target target{.handle = handle};
  try {
    answer.graph = dnn::convolution_graph(problem, target);
  } catch (const dnn::Failure& f) {
    if (f.is_unsupported()) return Answer();
    throw;
  }
  const bool times = problem.benchmarked != 0;
  std::vector<Plan> plans =
      dnn::make_plans(problem, *answer.graph, target, times ? kPlansTimed : 1, kWorkspaceBytes);
  if (plans.empty()) return Answer();
  answer.plan = std::move(plans[times ? fastest(handle, plans, c) : 0]);
  return answer;
}

// cuDNN counts in 32 bits in many of its engines.
bool is_small(const DnnConvolution& c) {
  for (const NdArray* x : {&c.in, &c.weight, &c.out})
    if (x->numel() == 0 || x->numel() > std::numeric_limits<std::int32_t>::max()) return false;
  return true;
}

constexpr const char* kNames[] = {"convolution", "convolution_backward (input)",
                                  "convolution_backward (weight)"};

}  // namespace

bool dnn_convolve(const DnnConvolution& c) {
  if (!is_small(c)) return false;
  static thread_local Library library;
  const Device device = c.in.device();
  const DeviceScope scope(device);
  try {
    const cudnnHandle_t handle = library.handle(device);
    Problem problem(c);
    if (problem.benchmarked && is_capturing(device)) problem.benchmarked = 0;
    Answer* answer = library.answers.find(problem);
    if (!answer) answer = &library.answers.insert(problem, answer_to(problem, handle, c));
    if (!answer->plan) return false;
    execute(handle, *answer->plan, c);
    return true;
  } catch (const dnn::Failure& f) {
    ebb::detail::fail(kNames[static_cast<std::size_t>(c.kind)], ": cuDNN failed on an input of shape ",
                      c.in.sizes(), ", a weight of shape ", c.weight.sizes(), " and an output of shape ",
                      c.out.sizes(), " in ", c.in.dtype(), ": ", f.what(), ".");
  }
}

}  // namespace ebb::cuda
