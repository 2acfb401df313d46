// Memory-bound ops on 64 Mi elements: microseconds, and the bandwidth as a fraction of the bandwidth of a
// plain copy in the same run. The bandwidth is computed from the minimum bytes of an op, which reads each
// input once and writes each result once.
//   bandwidth [ELEMENTS]      a multiple of 2^16
#include "device.h"

namespace {

namespace F = torch::nn::functional;
using torch::Tensor;

class Table {
 public:
  Table(int64_t elements, torch::ScalarType dtype)
      : bytes_(static_cast<double>(elements * static_cast<int64_t>(torch::elementSize(dtype)))),
        dtype_(dtype) {}

  // `arrays` is the number of arrays that are read or written.
  void add(const std::string& name, double arrays, const std::function<void()>& call) {
    const double seconds = bench::device_seconds(call), rate = arrays * bytes_ / seconds;
    if (name == "copy") copy_rate_ = rate;
    const std::string full = "bandwidth." + name + "." + bench::name_of(dtype_);
    bench::report(full, seconds * 1e6, "us");
    bench::report(full + ".of_copy", rate / copy_rate_, "share");
  }

  // Times the forward pass, and separately the backward pass through the recorded graph.
  void add_op(const std::string& name, double forward_arrays, double backward_arrays,
              const std::vector<Tensor>& leaves, const std::function<Tensor()>& op) {
    {
      torch::NoGradGuard no_grad;
      add(name, forward_arrays, [&] { op(); });
    }
    const Tensor y = op(), seed = torch::ones_like(y);
    add(name + ".backward", backward_arrays,
        [&] { torch::autograd::grad({y}, leaves, {seed}, /*retain_graph=*/true); });
  }

 private:
  double bytes_, copy_rate_ = 1;
  torch::ScalarType dtype_;
};

void elementwise(Table& table, const torch::TensorOptions& options, int64_t n) {
  const Tensor x = torch::randn({n}, options), y = torch::randn({n}, options), z = torch::empty({n}, options);
  table.add("copy", 2, [&] { Tensor(z).copy_(x); });
  table.add("add", 3, [&] { x + y; });
  table.add("gelu", 2, [&] { F::gelu(x); });
  table.add("exp", 2, [&] { torch::exp(x); });
  table.add("addcmul", 4, [&] { torch::addcmul(x, y, z); });
  const Tensor rows = x.view({-1, 4096}), bias = torch::randn({4096}, options);
  table.add("bias_add", 2, [&] { rows + bias; });
  const Tensor images = x.view({-1, 64, 32, 32}), channel = torch::randn({1, 64, 1, 1}, options);
  table.add("channel_add", 2, [&] { images + channel; });
  table.add("transpose", 2, [&] { rows.t().contiguous(); });
  table.add("nchw_to_nhwc", 2, [&] { images.permute({0, 2, 3, 1}).contiguous(); });
  table.add("stride_2", 1, [&] { rows.slice(1, 0, 4096, 2).contiguous(); });
  table.add("cat", 4, [&] { torch::cat({rows, y.view({-1, 4096})}, 1); });
  const Tensor leaf = x.clone().requires_grad_();
  table.add_op("dropout", 2, 2, {leaf}, [&] { return torch::dropout(leaf, 0.5, true); });
}

void reductions(Table& table, const torch::TensorOptions& options, int64_t n) {
  const Tensor x = torch::randn({n}, options), rows = x.view({-1, 4096}), columns = x.view({4096, -1});
  table.add("sum", 1, [&] { x.sum(); });
  table.add("sum.rows", 1, [&] { rows.sum(1); });
  table.add("sum.columns", 1, [&] { columns.sum(0); });
  table.add("sum.short_rows", 1, [&] { x.view({-1, 16}).sum(1); });
  table.add("max.rows", 1, [&] { rows.max(1); });
  table.add("var.rows", 1, [&] { rows.var(1); });
  table.add("cumsum.rows", 2, [&] { rows.cumsum(1); });
}

void normalisations(Table& table, const torch::TensorOptions& options, int64_t n) {
  const Tensor rows = torch::randn({n / 4096, 4096}, options).requires_grad_();
  const Tensor weight = torch::ones({4096}, options).requires_grad_(),
               bias = torch::zeros({4096}, options).requires_grad_();
  table.add_op("softmax", 2, 3, {rows}, [&] { return torch::softmax(rows, 1); });
  table.add_op("log_softmax", 2, 3, {rows}, [&] { return torch::log_softmax(rows, 1); });
  table.add_op("layer_norm", 2, 3, {rows, weight, bias},
               [&] { return torch::layer_norm(rows, {4096}, weight, bias); });
  const Tensor images = torch::randn({n / 65536, 64, 32, 32}, options).requires_grad_();
  const Tensor scale = torch::ones({64}, options).requires_grad_(),
               shift = torch::zeros({64}, options).requires_grad_();
  table.add_op("batch_norm", 3, 5, {images, scale, shift}, [&] {
    return torch::batch_norm(images, scale, shift, {}, {}, /*training=*/true, 0.1, 1e-5, true);
  });
  const Tensor labels = torch::arange(n / 4096, bench::on_device(torch::kLong)).remainder(4096);
  table.add_op("cross_entropy", 1, 2, {rows}, [&] { return F::cross_entropy(rows, labels); });
}

void optimizers(Table& table, const torch::TensorOptions& options, int64_t n) {
  for (const int64_t tensors : {int64_t{1}, int64_t{256}}) {
    std::vector<Tensor> parameters;
    for (int64_t i = 0; i < tensors; ++i) {
      parameters.push_back(torch::randn({n / tensors}, options).requires_grad_());
      parameters.back().mutable_grad() = torch::randn({n / tensors}, options);
    }
    torch::optim::Adam adam(parameters, torch::optim::AdamOptions(1e-3));
    table.add("adam." + std::to_string(tensors), 7, [&] { adam.step(); });
    torch::optim::SGD sgd(parameters, torch::optim::SGDOptions(1e-3).momentum(0.9));
    table.add("sgd." + std::to_string(tensors), 5, [&] { sgd.step(); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t n = bench::size_argument(argc, argv, int64_t{1} << 26);
  torch::manual_seed(1);
  for (const auto dtype : {torch::kFloat, torch::kBFloat16}) {
    Table table(n, dtype);
    const auto options = bench::on_device(dtype);
    elementwise(table, options, n);
    reductions(table, options, n);
    normalisations(table, options, n);
    if (dtype == torch::kFloat) optimizers(table, options, n);
  }
}
