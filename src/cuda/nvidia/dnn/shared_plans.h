// Plans that the threads of a process share, and files of plans. With the files, the next run of a program
// need not compile the plans again.
#pragma once

#include "cuda/cache_files.h"
#include "cuda/nvidia/dnn/plan.h"
#include "cuda/nvidia/dnn/task.h"
#include "cuda/nvidia/lru_cache.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ebb::cuda::dnn {

/// Files of cuDNN's serialised plans, one per problem. `stamp` describes the configuration for which the
/// plans are valid.
class PlanFiles {
 public:
  /// `folder` and `most` are arguments of CacheFiles.
  PlanFiles(std::filesystem::path folder, std::string stamp, std::size_t most = 4096)
      : files_(std::move(folder), "plan", most), stamp_(std::move(stamp)) {}

  std::optional<std::string> load(const Problem& problem) const { return files_.load(key_of(problem)); }
  void save(const Problem& problem, const std::string& plan) { files_.save(key_of(problem), plan); }
  void remove(const Problem& problem) const { files_.remove(key_of(problem)); }

 private:
  // Returns the stamp and the problem without the device's index, which is valid only in this process. The
  // stamp identifies the device.
  std::string key_of(const Problem& problem) const {
    Problem anywhere = problem;
    anywhere.device = 0;
    return stamp_ + '\n' + std::string(reinterpret_cast<const char*>(&anywhere), sizeof(anywhere));
  }

  CacheFiles files_;
  std::string stamp_;
};

/// The result of a search for a plan. Without a plan, the caller's own kernels compute the problem.
struct Answer {
  std::optional<Graph> graph;  // the graph from which the plan was created; none if it was loaded
  std::optional<Plan> plan;
};

/// Returns whether the serialised form of the problem's plans is complete. It is not if the problem has a
/// ReLU, because the form does not contain the setting that ReLU propagates NaN.
inline bool says_all(const Problem& problem) { return problem.relu == 0; }

/// Stores the plans of a process in serialised form. cuDNN does not guarantee that a plan can run in two
/// threads concurrently, so each thread has its own plan. Only the first thread creates a plan from the
/// problem, which may take a second because it compiles a kernel. The other threads, and later runs of the
/// program, load the serialised form if it is complete.
class SharedPlans {
 public:
  SharedPlans(PlanFiles& files, std::size_t capacity) : files_(files), known_(capacity) {}

  /// Returns a plan for the calling thread. If there is none yet, calls `make`, which returns an Answer.
  /// Throws the exceptions of `make`.
  template <class Make>
  Answer answer_to(const Problem& problem, const Target& target, const Make& make) {
    if (!says_all(problem)) return make();
    std::optional<Answer> mine;
    const Text text = known_.get(problem, [&] { return find_or_make(problem, target, make, mine); });
    if (mine) return std::move(*mine);
    if (!text) return Answer();
    if (std::optional<Plan> plan = plan_from(*text, target)) return {{}, std::move(plan)};
    return make();
  }
  /// Drops a loaded plan that failed to run. It will be created again.
  void forget(const Problem& problem) {
    known_.erase(problem);
    files_.remove(problem);
  }
  /// Called if a created plan does not support the problem after all. The problem then has no plan.
  void give_up(const Problem& problem) {
    known_.put(problem, nullptr);
    files_.remove(problem);
  }

 private:
  using Text = std::shared_ptr<const std::string>;  // null if the problem has no plan

  template <class Make>
  Text find_or_make(const Problem& problem, const Target& target, const Make& make,
                    std::optional<Answer>& mine) {
    if (std::optional<std::string> text = files_.load(problem)) {
      if (std::optional<Plan> plan = plan_from(*text, target)) {
        mine = Answer{{}, std::move(plan)};
        return std::make_shared<const std::string>(std::move(*text));
      }
    }
    mine = make();
    if (!mine->plan) return nullptr;
    auto text = std::make_shared<const std::string>(text_of(*mine->plan));
    files_.save(problem, *text);
    return text;
  }

  PlanFiles& files_;
  OnceCache<Problem, Text> known_;
};

}  // namespace ebb::cuda::dnn
