// Tensors, vectors, modules and archives come back from a file as they were saved.
#include "fidelity.h"

#include <cstdio>
#include <memory>
#include <sstream>

namespace save_load {

namespace nn = torch::nn;

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -1, 1, phase += 0.37));
}

void run() {
  section("tensor", [] {
    Tensor x = ramp({2, 3}), y;
    torch::save(x, "fidelity_tensor.bin");
    torch::load(y, "fidelity_tensor.bin");
    report("tensor", y);
    std::remove("fidelity_tensor.bin");
    std::stringstream stream;
    torch::save(torch::tensor({1, 2, 3}), stream);
    Tensor z;
    torch::load(z, stream);
    report("stream", z);
    for (auto dtype : {torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt32, torch::kInt8,
                       torch::kUInt8, torch::kBool}) {
      std::stringstream s;
      torch::save(torch::tensor({0, 1, 2}).to(dtype), s);
      Tensor t;
      torch::load(t, s);
      report(std::string("dtype.") + dtype_name(dtype), t);
    }
    std::stringstream strided;
    torch::save(x.t(), strided);
    Tensor w, v, u;
    torch::load(w, strided);
    report("strided", w);
    std::stringstream scalar;
    torch::save(torch::tensor(2.5), scalar);
    torch::load(v, scalar);
    report("scalar", v);
    std::stringstream empty;
    torch::save(torch::zeros({0, 3}), empty);
    torch::load(u, empty);
    report("empty", u);
  });

  section("vector", [] {
    std::vector<Tensor> all = {ramp({2}), torch::tensor({1, 2}), ramp({2, 2})}, back;
    std::stringstream stream;
    torch::save(all, stream);
    torch::load(back, stream);
    report_value("vector.size", static_cast<double>(back.size()));
    for (size_t i = 0; i < back.size(); ++i) report("vector." + std::to_string(i), back[i]);
  });

  section("module", [] {
    nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::ReLU(), nn::Linear(4, 2));
    nn::Sequential other(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::ReLU(), nn::Linear(4, 2));
    fill(*net);
    net->forward(ramp({5, 3}).to(torch::kFloat32));
    torch::save(net, "fidelity_module.bin");
    torch::load(other, "fidelity_module.bin");
    std::remove("fidelity_module.bin");
    net->eval();
    other->eval();
    const Tensor x = ramp({2, 3}).to(torch::kFloat32);
    report("module.out", other->forward(x));
    report_value("module.equal", torch::equal(net->forward(x), other->forward(x)));
    report("module.running", other->named_buffers()["1.running_mean"]);
    report("module.batches", other->named_buffers()["1.num_batches_tracked"]);
    auto linear = std::make_shared<nn::LinearImpl>(3, 2);
    auto twin = std::make_shared<nn::LinearImpl>(3, 2);
    std::stringstream stream;
    torch::save(linear, stream);
    torch::load(twin, stream);
    report_value("module.shared", torch::equal(linear->weight, twin->weight));
    report_value("module.requires_grad", twin->weight.requires_grad());
    std::stringstream small;
    torch::save(nn::Conv2d(1, 1, 1), small);
    report_error("module.mismatch", [&] {
      nn::BatchNorm1d target(2);
      torch::load(target, small);
    });
  });

  section("broken", [] {
    std::stringstream garbage("this is no archive at all");
    Tensor t;
    report_error("garbage", [&] { torch::load(t, garbage); });
    std::stringstream nothing;
    report_error("nothing", [&] { torch::load(t, nothing); });
  });
}

const Program program("save_load", run);

}  // namespace save_load
