// Several threads at once: own graphs, a shared leaf, the modes of each.
#include "fidelity.h"

#include <thread>

namespace threads {

void run() {
  section("threads", [] {
    Tensor shared = ramp({3}).requires_grad_();
    std::vector<Tensor> own(4);
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i)
      workers.emplace_back([&own, i] {
        Tensor x = ramp({3}, -1, 1, i).requires_grad_();
        for (int k = 0; k < 20; ++k) (x * x * (k + 1)).sum().backward();
        own[i] = x.grad();
      });
    for (auto& worker : workers) worker.join();
    for (int i = 0; i < 4; ++i) report("own" + std::to_string(i), own[i]);
    workers.clear();
    for (int i = 0; i < 4; ++i)
      workers.emplace_back([&shared] {
        for (int k = 0; k < 25; ++k) (shared * 0.5).sum().backward();
      });
    for (auto& worker : workers) worker.join();
    report("shared", shared.grad());
    torch::NoGradGuard guard;
    bool enabled = false;
    std::thread([&enabled] { enabled = torch::GradMode::is_enabled(); }).join();
    report_value("mode.other", enabled);
    report_value("mode.here", torch::GradMode::is_enabled());
  });
  section("one_graph", [] {
    Tensor x = ramp({4}).requires_grad_();
    Tensor y = (x.sin() * x).sum();
    std::vector<std::thread> workers;
    std::vector<Tensor> grads(3);
    for (int i = 0; i < 3; ++i)
      workers.emplace_back([&, i] { grads[i] = torch::autograd::grad({y}, {x}, {}, true)[0]; });
    for (auto& worker : workers) worker.join();
    for (int i = 0; i < 3; ++i) report("one_graph" + std::to_string(i), grads[i]);
  });
}

const Program program("threads", run);

}  // namespace threads
