// isa_probe prints the instruction set of the kernels. isa_probe THREADS prints the results of ops of all
// families in deterministic mode, with all bits.
#include <ebb/core/isa.h>
#include <ebb/ebb.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using ebb::Tensor;

// Prints one line for a tensor, with the FNV-1a hash of its bytes.
void print(const std::string& name, const Tensor& x) {
  const Tensor dense = x.detach().contiguous();
  const auto* const bytes = static_cast<const unsigned char*>(dense.data_ptr());
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dense.numel()) * ebb::element_size(dense.dtype()); ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  std::printf("%-24s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash));
}

// The result and the gradients of a function of leaves.
template <class F>
void show(const std::string& name, F&& f, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) leaves.push_back(x.clone().requires_grad_());
  const Tensor y = f(leaves);
  print(name, y);
  const Tensor weights = ebb::linspace(-1, 1, y.numel(), y.options()).reshape(y.sizes());
  const auto grads = ebb::autograd::grad({(y * weights).sum()}, leaves);
  for (std::size_t i = 0; i < grads.size(); ++i) print(name + " gradient " + std::to_string(i), grads[i]);
}

using In = const std::vector<Tensor>&;

void show_ops(ebb::DType dtype) {
  const auto randn = [&](ebb::IntArrayRef sizes) { return ebb::randn(sizes, dtype); };
  const Tensor x = randn({67, 301});
  show("matmul", [](In in) { return in[0].matmul(in[1]); }, {x, randn({301, 129})});
  show("matmul of a vector", [](In in) { return in[0].mv(in[1]); }, {randn({517, 301}), randn({301})});
  show("conv2d", [](In in) { return ebb::conv2d(in[0], in[1], in[2], 1, 1); },
       {randn({3, 16, 19, 23}), randn({24, 16, 3, 3}), randn({24})});
  show("softmax", [](In in) { return in[0].softmax(1); }, {x});
  show("log_softmax", [](In in) { return in[0].log_softmax(0); }, {x});
  show("layer_norm", [](In in) { return ebb::layer_norm(in[0], {301}, in[1], in[2]); },
       {x, randn({301}), randn({301})});
  show("batch_norm",
       [](In in) { return ebb::batch_norm(in[0], in[1], in[2], Tensor(), Tensor(), true, 0.1, 1e-5); },
       {randn({9, 5, 11, 13}), randn({5}), randn({5})});
  show("attention",
       [](In in) { return ebb::scaled_dot_product_attention(in[0], in[1], in[2], Tensor(), 0.0, true); },
       {randn({2, 3, 37, 16}), randn({2, 3, 37, 16}), randn({2, 3, 37, 16})});
  show("elementwise",
       [](In in) {
         const Tensor& a = in[0];
         return a.exp() * a.sin() + a.tanh() / (a.square() + 1) - ebb::gelu(a) * a.sigmoid() + a.erf();
       },
       {x});
  show("reductions",
       [](In in) {
         return ebb::stack({in[0].sum(), in[0].var(), in[0].norm(), in[0].mean(), in[0].amax(),
                            in[0].logsumexp(1).sum(), in[0].cumsum(0).sum(), in[0].prod(1).sum()});
       },
       {x});
  show("huber_loss", [](In in) { return ebb::huber_loss(in[0], in[1]); }, {x, randn({67, 301})});
  show("solve", [](In in) { return ebb::linalg::solve(in[0], in[1]); }, {randn({60, 60}), randn({60, 7})});
  const Tensor square = randn({90, 90});
  print("eigvalsh", ebb::linalg::eigvalsh(square.matmul(square.t())));
  print("svdvals", ebb::linalg::svdvals(x));
  print("rand", ebb::rand({1001}, dtype));
}

// Matrix products of 16-bit floats, which would use AVX512-BF16 outside deterministic mode.
void show_products(ebb::DType dtype) {
  const auto randn = [&](ebb::IntArrayRef sizes) { return ebb::randn(sizes).to(dtype); };
  show("matmul of 16 bits", [](In in) { return in[0].matmul(in[1]); }, {randn({67, 301}), randn({301, 129})});
  show("conv2d of 16 bits", [](In in) { return ebb::conv2d(in[0], in[1], {}, 1, 1); },
       {randn({3, 16, 19, 22}), randn({32, 16, 3, 3})});
  ebb::nn::LSTM lstm(ebb::nn::LSTMOptions(12, 19));
  lstm->to(dtype);
  print("lstm of 16 bits", std::get<0>(lstm->forward(randn({7, 5, 12}))));
}

// Training steps of a network with the most common layers.
void show_training() {
  namespace nn = ebb::nn;
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1)), nn::BatchNorm2d(8), nn::ReLU(),
                     nn::MaxPool2d(2), nn::Flatten(), nn::Linear(8 * 8 * 8, 33), nn::GELU(),
                     nn::Dropout(0.25), nn::Linear(33, 10));
  ebb::optim::AdamW adam(net->parameters(), ebb::optim::AdamWOptions(1e-2));
  const Tensor images = ebb::randn({32, 3, 16, 16}), classes = ebb::randint(10, {32}, ebb::kLong);
  for (int step = 0; step < 5; ++step) {
    adam.zero_grad();
    const Tensor loss = ebb::cross_entropy_loss(net->forward(images), classes);
    loss.backward();
    adam.step();
    print("loss", loss);
  }
  for (const auto& p : net->named_parameters()) print(p.key(), p.value());
  nn::LSTM lstm(nn::LSTMOptions(12, 19).num_layers(2));
  print("lstm", std::get<0>(lstm->forward(ebb::randn({7, 5, 12}))));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::printf("%s\n", std::string(ebb::cpu_isa()).c_str());
    return 0;
  }
  ebb::set_num_threads(std::atoi(argv[1]));
  ebb::use_deterministic_algorithms(argc < 3);  // a third argument turns deterministic mode off
  ebb::manual_seed(7);
  show_ops(ebb::kFloat);
  show_ops(ebb::kDouble);
  show_training();
  show_products(ebb::kBFloat16);
  show_products(ebb::kHalf);
}
