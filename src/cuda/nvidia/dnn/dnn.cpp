// Runs tasks with cuDNN, and caches the plans of each problem.
#include "kernel/cuda/dnn.h"

#include <ebb/core/error.h>
#include <ebb/cuda/cuda.h>

#include "cuda/nvidia/dnn/handles.h"
#include "cuda/nvidia/dnn/shared_plans.h"
#include "cuda/nvidia/lru_cache.h"
#include "cuda/runtime.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>

namespace ebb::cuda {
namespace {

using dnn::Answer;
using dnn::Descriptor;
using dnn::Plan;
using dnn::Problem;
using dnn::Task;

constexpr std::size_t kPlansKept = 1024;  // the limit per thread, and of the shared serialised plans
constexpr std::size_t kPlansTimed = 8;    // the limit of plans that are timed per problem
constexpr std::int64_t kWorkspaceBytes = std::int64_t{1} << 30;  // the limit, unless all plans need more

// Returns a text that describes the configuration. A plan is valid only for the configuration in which it was
// made, because it may contain machine code.
std::string stamp_of(Device device) {
  const cudaDeviceProp& p = properties_of(device.index());
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return ebb::detail::text("cuDNN ", dnn::library().version(), ", driver ", driver, ", ",
                           static_cast<const char*>(p.name), ' ', p.major, '.', p.minor, " of ",
                           p.multiProcessorCount, " multiprocessors");
}

// Returns the plans that all threads share.
dnn::SharedPlans& shared_plans(Device device) {
  static std::mutex mutex;
  static auto* const all = new std::array<dnn::SharedPlans*, kMaxDevices>{};
  const std::lock_guard lock(mutex);
  dnn::SharedPlans*& plans = (*all)[static_cast<std::size_t>(device.index())];
  if (!plans) {
    const std::filesystem::path folder = cache_folder();
    plans = new dnn::SharedPlans(
        *new dnn::PlanFiles(folder.empty() ? folder : folder / "cudnn", stamp_of(device)), kPlansKept);
  }
  return *plans;
}

// Each thread has its own handles and plans, because cuDNN does not guarantee that a plan can run in two
// threads concurrently.
struct Calls {
  dnn::Handles& handles = dnn::handles();  // released after the plans that were created with them
  LruCache<Problem, Answer> answers{kPlansKept};
};

void execute(cudnnHandle_t handle, const Plan& plan, const Task& task) {
  const Device device(kCUDA, task.problem.device);
  const NdArray workspace = plan.workspace > 0 ? NdArray::empty({plan.workspace}, kByte, device) : NdArray();
  const Descriptor pack = dnn::variant_pack(task, workspace.defined() ? workspace.address() : nullptr);
  dnn::check(dnn::library().execute(handle, plan.plan.raw(), pack.raw()), "cudnnBackendExecute");
}

// A CUDA event that records the time.
struct Tick {
  cudaEvent_t event = nullptr;
  Tick() { check(cudaEventCreate(&event), "cudaEventCreate"); }
  ~Tick() { cudaEventDestroy(event); }
  Tick(const Tick&) = delete;
  void record(Device device) { check(cudaEventRecord(event, current_stream(device)), "cudaEventRecord"); }
};

// Returns the milliseconds of a run: the minimum of three runs, after a warm-up run.
float time_of(cudnnHandle_t handle, const Plan& plan, const Task& task) {
  const Device device(kCUDA, task.problem.device);
  Tick start, stop;
  float best = std::numeric_limits<float>::infinity();
  for (int run = 0; run < 4; ++run) {
    start.record(device);
    execute(handle, plan, task);
    stop.record(device);
    check(cudaEventSynchronize(stop.event), "cudaEventSynchronize");
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, start.event, stop.event), "cudaEventElapsedTime");
    if (run > 0) best = std::min(best, elapsed);
  }
  return best;
}

std::size_t fastest(cudnnHandle_t handle, const std::vector<Plan>& plans, const Task& task) {
  std::size_t best = 0;
  float least = std::numeric_limits<float>::infinity();
  std::optional<dnn::Failure> failure;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    try {
      const float time = time_of(handle, plans[i], task);
      if (time < least) least = time, best = i;
    } catch (const dnn::Failure& f) {
      failure = f;
    }
  }
  if (failure && least == std::numeric_limits<float>::infinity()) throw dnn::Failure(*failure);
  return best;
}

Answer make_answer(const Task& task, cudnnHandle_t handle) {
  Answer answer;
  const dnn::Target target{.handle = handle};
  const bool times = task.problem.benchmarked != 0;
  try {
    answer.graph = task.graph(task.problem, target);
    std::vector<Plan> plans =
        dnn::make_plans(task.problem, *answer.graph, target, times ? kPlansTimed : 1, kWorkspaceBytes);
    if (plans.empty()) return Answer();
    answer.plan = std::move(plans[times ? fastest(handle, plans, task) : 0]);
    return answer;
  } catch (const dnn::Failure& f) {
    // If engines support a convolution, but all their plans fail, the failure is reported, because ebb's own
    // convolutions are slow. Other ops run ebb's kernels instead.
    if (f.is_unsupported() || !is_convolution(task.problem.operation)) return Answer();
    throw;
  }
}

bool are_small(std::initializer_list<const NdArray*> arrays) {
  for (const NdArray* x : arrays)
    if (x->numel() == 0 || x->numel() > dnn_most_elements()) return false;
  return true;
}

bool run(const char* op, Task task) {
  static thread_local Calls calls;
  Problem& p = task.problem;
  const Device device(kCUDA, p.device);
  const DeviceScope scope(device);
  try {
    const cudnnHandle_t handle = calls.handles.on(device);
    if (p.benchmarked && dnn::is_capturing(device)) p.benchmarked = 0;
    const auto find = [&] {
      return shared_plans(device).answer_to(p, {.handle = handle}, [&] { return make_answer(task, handle); });
    };
    Answer* answer = calls.answers.find(p);
    if (!answer) answer = &calls.answers.insert(p, find());
    while (answer->plan) {
      try {
        execute(handle, *answer->plan, task);
        return true;
      } catch (const dnn::Failure& f) {
        const bool was_read = !answer->graph;
        if (!was_read && !f.is_unsupported()) throw;
        if (was_read)
          shared_plans(device).forget(p);
        else
          shared_plans(device).give_up(p);
        *answer = was_read ? find() : Answer();
      }
    }
    return false;
  } catch (const dnn::Failure& f) {
    const std::size_t dims = static_cast<std::size_t>(p.axes) + 2;
    ebb::detail::fail(op, ": cuDNN failed on an input of shape ", IntArrayRef(p.in, dims),
                      " and an output of shape ", IntArrayRef(p.out, dims), " with windows of shape ",
                      IntArrayRef(p.window, dims), " in ", p.type(), ": ", f.what(),
                      ". Call cuda::enable_cudnn(false) to run without cuDNN.");
  }
}

// Returns whether cuDNN may compute attention. Requires 9.19, the version with which plans were tested.
// Before 9.16, gradients were wrong if the keys did not fill a tile, and 9.10 had errors in both passes.
bool is_for_attention() {
  constexpr std::size_t kOldest = 91900;
  return dnn_is_used() && dnn::library().version() >= kOldest;
}

constexpr const char* kConvNames[] = {"convolution", "convolution_backward (input)",
                                      "convolution_backward (weight)"};

// Runs a batch norm only if its arrays are aligned to 16 bytes, because the engines load 16 bytes together
// even if the descriptors state a smaller alignment.
bool run_aligned(const char* op, Task task) {
  return task.problem.alignment == dnn::kMostAligned && run(op, std::move(task));
}

}  // namespace

bool dnn_is_there() { return !is_dnn_forbidden() && dnn::find_library(); }
bool dnn_is_used() { return is_cudnn_enabled() && dnn_is_there(); }

// Many of cuDNN's engines use 32-bit indices.
std::int64_t dnn_most_elements() { return std::numeric_limits<std::int32_t>::max(); }

bool dnn_convolve(const DnnConvolution& c) {
  if (!dnn_is_used() || !are_small({&c.in, &c.weight, &c.out})) return false;
  return run(kConvNames[static_cast<std::size_t>(c.kind)], dnn::task_of(c));
}

bool dnn_batch_norm(const DnnBatchNorm& n) {
  return dnn_is_used() && are_small({&n.in}) && run_aligned("batch_norm", dnn::task_of(n));
}

bool dnn_batch_norm_backward(const DnnBatchNormBackward& n) {
  return dnn_is_used() && are_small({&n.in}) && run_aligned("batch_norm_backward", dnn::task_of(n));
}

bool dnn_attention(const DnnAttention& a) {
  if (!is_for_attention() || !are_small({&a.query, &a.key, &a.value, &a.result})) return false;
  return run("scaled_dot_product_attention", dnn::task_of(a));
}

bool dnn_attention_backward(const DnnAttentionBackward& a) {
  if (!is_for_attention() || !are_small({&a.dquery, &a.dkey, &a.dvalue, &a.grad})) return false;
  return run("scaled_dot_product_attention_backward", dnn::task_of(a));
}

}  // namespace ebb::cuda
