// Plans that threads, and runs of a program, share.
#pragma once

#include "cuda/nvidia/dnn/plan.h"
#include "cuda/nvidia/dnn/plan_files.h"
#include "cuda/nvidia/lru_cache.h"

#include <memory>
#include <string>

namespace ebb::cuda::dnn {

/// What a problem is computed by; without a plan, by the caller's own kernels.
struct Answer {
  std::optional<Graph> graph;  // that the plan was made from; none where it was read
  std::optional<Plan> plan;
};

/// Whether such texts say all of a problem's plans: not that ReLU keeps NaN, which a plan that is read
/// forgets.
inline bool says_all(const Problem& problem) { return problem.relu == 0; }

/// Knows the plans of a process by their texts. cuDNN does not promise that one plan may run in two threads
/// at once: so each thread has its own, but only the first that needs one makes it, which may mean to compile
/// a kernel for a second; the others, and later runs of a program, read what it wrote down, where that says
/// all.
class SharedPlans {
 public:
  SharedPlans(PlanFiles& files, std::size_t capacity) : files_(files), known_(capacity) {}

  /// A plan of the calling thread's own; `make`, which returns an Answer, where none is known. Throws what
  /// `make` throws.
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
  /// A plan that was read does not run: it is to be made anew.
  void forget(const Problem& problem) {
    known_.erase(problem);
    files_.remove(problem);
  }
  /// A plan took back what it had promised: there is none.
  void give_up(const Problem& problem) {
    known_.put(problem, nullptr);
    files_.remove(problem);
  }

 private:
  using Text = std::shared_ptr<const std::string>;  // null: there is no plan

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
