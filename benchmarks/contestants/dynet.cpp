// Tiny ops and the multilayer perceptron for DyNet: the counterparts of benchmarks/tiny_ops.cpp and mlp.cpp.
#include <dynet/dynet.h>
#include <dynet/expr.h>
#include <dynet/model.h>
#include <dynet/param-init.h>
#include <dynet/training.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace {

using dynet::Expression;

/// Returns the median of samples of a tenth of a second of processor time, because DyNet runs on one thread.
template <class F>
double seconds(const F& call) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  call();  // allocates memory from the system
  std::vector<double> samples;
  for (int i = 0; i < 3; ++i) {
    const double start = now();
    int calls = 0;
    for (; calls == 0 || now() - start < 0.1; ++calls) call();
    samples.push_back((now() - start) / calls);
  }
  std::sort(samples.begin(), samples.end());
  return samples[1];
}

template <class Link>
void chain(const std::string& name, int ops_a_link, const Link& link) {
  constexpr int kOps = 1000;
  for (const unsigned elements : {1U, 64U}) {
    dynet::ParameterCollection parameters;
    const dynet::Parameter x = parameters.add_parameters({elements}, dynet::ParameterInitConst(0.5F));
    dynet::ComputationGraph graph;
    const double time = seconds([&] {
      graph.clear();
      const Expression c = dynet::constant(graph, {elements}, 0.99F);
      Expression y = dynet::parameter(graph, x);
      for (int i = 0; i < kOps; i += ops_a_link) y = link(y, c);
      const Expression sum = dynet::sum_elems(y);
      graph.forward(sum);
      graph.backward(sum);
    });
    std::printf("tiny_ops.%s.%u %.6g us/op\n", name.c_str(), elements, time / kOps * 1e6);
  }
}

void tiny_ops() {
  chain("mul_add_tanh", 4,
        [](const Expression& y, const Expression& c) { return cmult(tanh(cmult(y, c) + c), y); });
  chain("sin", 1, [](const Expression& y, const Expression&) { return sin(y); });
  chain("mul_scalar", 1, [](const Expression& y, const Expression&) { return y * 1.0001F; });
}

void mlp() {
  const unsigned widths[] = {784, 256, 128, 10};
  for (const unsigned batch : {1U, 64U, 512U}) {
    dynet::ParameterCollection parameters;
    std::vector<dynet::Parameter> weights, biases;
    for (int i = 0; i < 3; ++i) {
      weights.push_back(parameters.add_parameters({widths[i + 1], widths[i]}));
      biases.push_back(parameters.add_parameters({widths[i + 1]}));
    }
    dynet::SimpleSGDTrainer trainer(parameters, 0.01F);
    std::vector<float> images(784 * batch);
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i * 7919 % 1000) / 1000;
    std::vector<unsigned> labels(batch);
    for (unsigned i = 0; i < batch; ++i) labels[i] = i % 10;
    dynet::ComputationGraph graph;
    const double time = seconds([&] {
      graph.clear();
      Expression h = dynet::input(graph, dynet::Dim({784}, batch), images);
      for (std::size_t i = 0; i < 3; ++i) {
        h = dynet::affine_transform(
            {dynet::parameter(graph, biases[i]), dynet::parameter(graph, weights[i]), h});
        if (i < 2) h = rectify(h);
      }
      const Expression loss = mean_batches(pickneglogsoftmax(h, labels));
      graph.forward(loss);
      graph.backward(loss);
      trainer.update();
    });
    std::printf("mlp.batch%u %.6g us/step\n", batch, time * 1e6);
  }
}

}  // namespace

int main(int, char** argv) {
  dynet::DynetParams settings;
  settings.mem_descriptor = "512";
  settings.random_seed = 1;
  dynet::initialize(settings);
  (argv[1] == std::string("mlp") ? mlp : tiny_ops)();
}
