// Archives, and saving and loading of states.
#include "fidelity.h"

#include <cstdio>
#include <memory>
#include <sstream>

// Checkpoints: nested archives, and training that is stopped and resumed.
namespace archives {

namespace nn = torch::nn;

struct NetImpl : nn::Module {
  NetImpl() : fc(3, 4), norm(4), out(nn::LinearOptions(4, 1).bias(false)) {
    register_module("fc", fc);
    register_module("norm", norm);
    register_module("out", out);
    steps = register_buffer("steps", torch::zeros({1}, torch::kLong));
  }
  Tensor forward(const Tensor& x) {
    steps.add_(1);
    return out(torch::tanh(norm(fc(x))));
  }
  nn::Linear fc;
  nn::BatchNorm1d norm;
  nn::Linear out;
  Tensor steps;
};
TORCH_MODULE(Net);

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -0.7, 0.7, phase += 0.41));
}

void train(Net& net, torch::optim::Optimizer& optimizer, int steps) {
  const Tensor x = ramp({8, 3}).to(torch::kFloat32), y = ramp({8, 1}, -1, 1, 2.0).to(torch::kFloat32);
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    torch::mse_loss(net(x), y).backward();
    optimizer.step();
  }
}

void run() {
  section("resume", [] {
    Net whole, first, second;
    fill(*whole);
    fill(*first);
    torch::optim::SGD all(whole->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    train(whole, all, 8);
    torch::optim::SGD before(first->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    train(first, before, 5);
    torch::serialize::OutputArchive archive, model, state;
    first->save(model);
    before.save(state);
    archive.write("model", model);
    archive.write("optimizer", state);
    archive.write("epoch", torch::tensor(5));
    archive.save_to("fidelity_checkpoint.bin");

    torch::serialize::InputArchive in, part;
    in.load_from("fidelity_checkpoint.bin");
    std::remove("fidelity_checkpoint.bin");
    in.read("model", part);
    second->load(part);
    torch::optim::SGD after(second->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    torch::serialize::InputArchive rest;
    in.read("optimizer", rest);
    after.load(rest);
    Tensor epoch;
    in.read("epoch", epoch);
    report("epoch", epoch);
    train(second, after, 3);
    report("resumed", second->fc->weight);
    report("steps", second->steps);
    report("difference", (second->fc->weight - whole->fc->weight).abs().max());
    report("running", second->norm->running_var);
    report_value("requires", second->fc->weight.requires_grad());
  });

  section("archives", [] {
    torch::serialize::OutputArchive out, inner;
    inner.write("x", ramp({2, 2}));
    inner.write("flag", torch::tensor({true, false}));
    out.write("inner", inner);
    out.write("count", torch::tensor(3));
    std::stringstream stream;
    out.save_to(stream);
    torch::serialize::InputArchive in, nested;
    in.load_from(stream);
    Tensor x, flag, none;
    report_value("try.nested", in.try_read("inner", nested));
    nested.read("x", x);
    nested.read("flag", flag);
    report("x", x);
    report("flag", flag);
    report_value("try.tensor", in.try_read("count", none));
    report_value("try.missing", in.try_read("nothing", none));
    report_error("missing", [&] { in.read("nothing", none); });
    report_error("missing.archive", [&] { in.read("nothing", nested); });
    report_value("keys", static_cast<double>(in.keys().size()));
  });

  section("mismatch", [] {
    std::stringstream stream;
    Net net;
    torch::save(net, stream);
    nn::Linear other(5, 5);
    report_error("other_module", [&] { torch::load(other, stream); });
    Net twin;
    std::stringstream again;
    torch::save(net, again);
    torch::load(twin, again);
    report_value("same", torch::equal(net->fc->weight, twin->fc->weight));
    report_value("training", twin->is_training());
  });
}

const Program program("archives", run);

}  // namespace archives

// Round trips of tensors, vectors, modules and archives through a file.
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
