// A program without optimization, linked with the static library. Its own copies of inline functions replace
// those of the library, and a compiled step must still be replayed.
#include <ebb/compile.h>
#include <ebb/ebb.h>

#include <cstdio>

int main() {
  ebb::manual_seed(1);
  const ebb::Tensor weight = ebb::randn({4, 3}).requires_grad_();
  ebb::optim::Adam optimizer({weight}, ebb::optim::AdamOptions(1e-2));
  auto step = ebb::compile([&](const ebb::Tensor& x) {
    optimizer.zero_grad();
    const ebb::Tensor loss = ebb::matmul(x, weight).pow(2).sum();
    loss.backward();
    optimizer.step();
    return loss;
  });
  const ebb::Tensor x = ebb::randn({5, 4});
  for (int i = 0; i < 8; ++i) step(x);
  const float first = weight.data_ptr<float>()[0] + x.array().data_as<float>()[0];
  const ebb::CompileReport report = step.report();
  std::printf("%lld replays; %s; %f\n", static_cast<long long>(report.replays), report.reason.c_str(), first);
  return report.replays >= 4 ? 0 : 1;
}
