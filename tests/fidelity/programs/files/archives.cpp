// Checkpoints: archives in archives, a training stopped and taken up again.
#include "fidelity.h"

#include <cstdio>
#include <sstream>

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
