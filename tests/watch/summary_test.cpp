// summary: its table, counting of shared and direct parameters, state after the call, errors.
#include <ebb/watch.h>

#include "summary_rows.h"
#include "support/catch.h"

#include <sstream>
#include <thread>

using namespace ebb;
using support::Contains;
using support::EndsWith;
using support::Saying;
using support::StartsWith;
using watch::summary;
using watch::Summary;
using watch::SummaryOptions;
using watch::SummaryRow;

namespace {

struct Affine : nn::Module {
  explicit Affine(std::int64_t n) {
    scale = register_parameter("weight", ones({n}));
    fc = register_module("fc", nn::Linear(n, n));
  }
  Variable forward(const Variable& x) { return fc(x) * scale; }
  Variable scale;
  nn::Linear fc = nullptr;
};

}  // namespace

TEST_CASE("summary prints a table like torchinfo") {
  nn::Sequential net(nn::Conv2d(1, 2, 3), nn::Sequential(nn::ReLU(), nn::Flatten()), nn::Linear(8, 1000));
  net->ptr<nn::Conv2dImpl>(0)->weight.set_requires_grad(false);
  net->ptr<nn::Conv2dImpl>(0)->bias.set_requires_grad(false);
  CHECK(summary(net, zeros({5, 1, 4, 4})).str() ==
        R"(===================================================================
Layer (type (var_name):depth-idx)  Output Shape  Param #  Mult-Adds
===================================================================
Sequential                         [5, 1000]     --       --
├─Conv2d (0): 1-1                  [5, 2, 2, 2]  (20)     400
├─Sequential (1): 1-2              [5, 8]        --       --
│    └─ReLU (0): 2-1               [5, 2, 2, 2]  --       --
│    └─Flatten (1): 2-2            [5, 8]        --       --
├─Linear (2): 1-3                  [5, 1000]     9,000    45,000
===================================================================
Total params: 9,020
Trainable params: 9,000
Non-trainable params: 20
Total mult-adds (M): 0.05
Input size (MB): 0.00
Forward/backward pass size (MB): 0.04
Params size (MB): 0.04
Estimated Total Size (MB): 0.08
===================================================================
)");
  std::ostringstream stream;
  stream << summary(net);
  CHECK_THAT(stream.str(), Contains("├─Linear (2): 1-3                  9,000\n"));
  CHECK_THAT(summary(nn::Linear(1000, 1000), zeros({2000, 1000})).str(),
             Contains("Total mult-adds (G): 2.00"));
}

TEST_CASE("summary counts a shared parameter and a shared module once") {
  struct Block : nn::Module {
    Block(nn::ReLU act_, nn::Linear shared_) {
      fc = register_module("fc", nn::Linear(4, 4));
      act = register_module("act", act_);
      shared = register_module("shared", shared_);
    }
    Variable forward(const Variable& x) { return shared(act(fc(x))); }
    nn::Linear fc = nullptr, shared = nullptr;
    nn::ReLU act = nullptr;
  };
  struct Net : nn::Module {
    Net() {
      const nn::ReLU act;
      const nn::Linear inner(4, 4);
      blocks = register_module("blocks", nn::ModuleList());
      for (int i = 0; i < 3; ++i) blocks->push_back(std::make_shared<Block>(act, inner));
      head = register_module("head", nn::Linear(nn::LinearOptions(4, 4).bias(false)));
      head->weight = head->replace_parameter("weight", inner->weight);
    }
    Variable forward(Variable x) {
      for (std::size_t i = 0; i < 3; ++i) x = nn::ModuleHolder<Block>(blocks->ptr<Block>(i))(x);
      return head(x);
    }
    nn::ModuleList blocks = nullptr;
    nn::Linear head = nullptr;
  };
  const auto net = std::make_shared<Net>();
  const Summary got = summary(*net, zeros({2, 4}), SummaryOptions().names(false));
  CHECK(elements(*net) == 80);
  CHECK(got.total_params == 80);
  CHECK(got.param_bytes == 320);
  CHECK_FALSE(row(got, "blocks.0.shared").recursive);
  CHECK(row(got, "blocks.1.shared").recursive);
  CHECK(row(got, "blocks.2.act").recursive);
  CHECK(row(got, "blocks.2").index == 3);
  CHECK(row(got, "head").params == 16);
  CHECK(row(got, "head").counted_params == 0);
  CHECK(row(got, "head").mult_adds == 32);
  CHECK(got.total_mult_adds == 3 * 2 * 40 + 32);
  CHECK_THAT(got.str(), Contains("Linear: 1-2            [2, 4]        (shared)     32"));
  CHECK_THAT(got.str(), Contains("(recursive)  40"));
  // Whole numbers of both figures, also without the rows of inner modules.
  CHECK_THAT(summary(*net, zeros({2, 4}), SummaryOptions().depth(0)).str(), Contains("80       272"));
}

TEST_CASE("summary has rows for parameter lists, uncalled modules and direct parameters") {
  struct Net : nn::Module {
    Net() {
      token = register_parameter("token", zeros({7}));
      list = register_module("list", nn::ParameterList(zeros({2, 3}), zeros({5})));
      affine = register_module("affine", std::make_shared<Affine>(4));
      unused = register_module("unused", nn::Sequential(nn::Linear(2, 2)));
    }
    Variable forward(const Variable& x) { return nn::ModuleHolder<Affine>(affine)(x); }
    Variable token;
    nn::ParameterList list = nullptr;
    std::shared_ptr<Affine> affine;
    nn::Sequential unused = nullptr;
  };
  const auto net = std::make_shared<Net>();
  const Summary got = summary(*net, zeros({2, 4}));
  CHECK(got.total_params == elements(*net));
  CHECK(got.total_params == 7 + 11 + 24 + 6);
  CHECK(row(got, "").counted_params == 7);
  CHECK(row(got, "list").counted_params == 11);
  CHECK(row(got, "list").type == "ParameterList");
  CHECK_FALSE(row(got, "list").called);
  CHECK(row(got, "affine").counted_params == 4);
  CHECK(row(got, "affine").type == "Affine");
  CHECK(row(got, "unused").counted_params == 0);
  CHECK(row(got, "unused.0").counted_params == 6);
  CHECK_THAT(got.str(), Contains("Net                                [2, 4]        7"));
  // Only the called linear layer multiplies.
  CHECK(got.total_mult_adds == 2 * 20);
  CHECK(got.param_bytes == 48 * 4);

  const Summary without = summary(*net);
  CHECK(without.total_params == 48);
  CHECK(without.rows.size() == got.rows.size());
  CHECK_THAT(without.str(), !Contains("Mult-Adds"));
  CHECK_THAT(without.str(), !Contains("Output Shape"));

  const std::string all = summary(*net, {}, SummaryOptions().parameters(true).ascii(true)).str();
  CHECK_THAT(all, Contains("\n+ token: [7], 7 elements\n"));
  CHECK_THAT(all, Contains("\n|    + weight: [4], 4 elements\n"));
  CHECK_THAT(all, Contains("\n|    |    + weight: [4, 4], 16 elements\n"));
}

TEST_CASE("summary sees calls of forward of modules of ebb that no handle makes") {
  struct Net : nn::Module {
    Net() {
      conv = register_module("conv", nn::Conv2d(1, 2, 3));
      rnn = register_module("rnn", nn::LSTM(4, 3));
      layers =
          register_module("layers", nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(4, 2)));
      norm = register_module("norm", nn::LayerNorm(std::vector<std::int64_t>{4}));
    }
    Variable forward(const Variable& x) {
      Variable y = conv->forward(x).flatten(2);
      y = std::get<0>(norm->forward_sum(layers->forward(y), y));
      return std::get<0>(rnn->forward(y));
    }
    nn::Conv2d conv = nullptr;
    nn::LSTM rnn = nullptr;
    nn::TransformerEncoderLayer layers = nullptr;
    nn::LayerNorm norm = nullptr;
  };
  const auto net = std::make_shared<Net>();
  const Summary got = summary(*net, [&] { net->forward(zeros({5, 1, 4, 4})); });
  using Shapes = std::vector<SummaryRow::Shape>;
  CHECK(row(got, "").called == false);
  CHECK(row(got, "conv").called);
  CHECK(row(got, "conv").outputs == Shapes{{5, 2, 2, 2}});
  CHECK(row(got, "conv").mult_adds == 20 * 5 * 4);
  CHECK(row(got, "layers").outputs == Shapes{{5, 2, 4}});
  CHECK(row(got, "layers.self_attn").depth == 2);
  CHECK(row(got, "layers.linear1").inputs == Shapes{{5, 2, 4}});
  CHECK(row(got, "norm").outputs == Shapes{{5, 2, 4}, {5, 2, 4}});
  CHECK(row(got, "rnn").outputs == Shapes{{5, 2, 3}, {1, 2, 3}, {1, 2, 3}});
  CHECK(row(got, "rnn").mult_adds == 108 * 10);
  CHECK(got.total_params == elements(*net));
  std::vector<std::string> order;
  for (const SummaryRow& each : got.rows)
    if (each.depth == 1) order.push_back(each.path);
  CHECK(order == std::vector<std::string>{"conv", "layers", "norm", "rnn"});
}

TEST_CASE("summary counts multiplications by parameters") {
  const auto of = [](auto net, const Variable& x) { return summary(net, x).total_mult_adds; };
  CHECK(of(nn::Linear(3, 8), zeros({5, 3})) == 160);
  CHECK(of(nn::Linear(3, 8), zeros({5, 10, 3})) == 1600);
  CHECK(of(nn::Linear(3, 8), zeros({3})) == 32);
  CHECK(of(nn::Conv1d(2, 4, 3), zeros({5, 2, 7})) == 28 * 25);
  CHECK(of(nn::Conv2d(2, 4, 3), zeros({5, 2, 7, 6})) == 76 * 5 * 20);
  CHECK(of(nn::Conv2d(2, 4, 3), zeros({2, 7, 6})) == 76 * 20);  // without a batch
  CHECK(of(nn::Conv3d(nn::Conv3dOptions(2, 4, 1).bias(false)), zeros({1, 2, 3, 3, 3})) == 8 * 27);
  CHECK(of(nn::ConvTranspose2d(2, 3, 2), zeros({1, 2, 3, 3})) == 27 * 16);
  CHECK(of(nn::BatchNorm2d(3), zeros({4, 3, 2, 2})) == 24);
  CHECK(of(nn::Embedding(10, 3), zeros({4, 2}, kLong)) == 0);
  CHECK(of(nn::ReLU(), zeros({4})) == 0);
  CHECK(of(nn::Linear(3, 8), zeros({0, 3})) == 0);
  nn::LSTM lstm(nn::LSTMOptions(4, 3).num_layers(2));
  CHECK(of(lstm, zeros({7, 2, 4})) == elements(*lstm) * 14);
  CHECK(of(lstm, zeros({7, 4})) == elements(*lstm) * 7);
  nn::MultiheadAttention attention(8, 2);
  const Variable x = zeros({5, 2, 8});
  CHECK(summary(attention, {x, x, x}).total_mult_adds == elements(*attention) * 10);
}

TEST_CASE("summary leaves modes, buffers, gradients, generators and hooks as they were") {
  nn::Sequential net(nn::Linear(4, 4), nn::BatchNorm1d(4), nn::Dropout(0.5), nn::Linear(4, 2));
  net->ptr<nn::LinearImpl>(3)->eval();
  net(rand({3, 4})).sum().backward();
  std::vector<Variable> grads, buffers;
  for (const Variable& each : net->parameters()) grads.push_back(each.grad().clone());
  for (const Variable& each : net->buffers()) buffers.push_back(each.clone());
  const Variable generator = get_rng_state();
  const auto check = [&] {
    CHECK(net->is_training());
    CHECK(net->ptr(1)->is_training());
    CHECK_FALSE(net->ptr(3)->is_training());
    for (std::size_t i = 0; i < grads.size(); ++i) CHECK(equal(net->parameters()[i].grad(), grads[i]));
    for (std::size_t i = 0; i < buffers.size(); ++i) CHECK(equal(net->buffers()[i], buffers[i]));
    CHECK(equal(get_rng_state(), generator));
    CHECK(GradMode::is_enabled());
    for (const auto& each : net->modules()) CHECK_FALSE(each->has_hooks());
  };
  for (const bool train : {false, true}) {
    bool trained = !train;
    const auto handle =
        net->register_forward_hook([&](nn::Module& m, const variable_list&, const variable_list& outputs) {
          trained = m.is_training();
          CHECK_FALSE(outputs[0].requires_grad());
        });
    summary(net, zeros({3, 4}), SummaryOptions().train(train));
    CHECK(trained == train);
    CHECK(net->has_hooks());
    nn::RemovableHandle(handle).remove();
    summary(net);
    summary(net, zeros({3, 4}), SummaryOptions().train(train));
    check();
  }
  // An error in the call.
  CHECK_THROWS_MATCHES(summary(net, zeros({3, 5}), SummaryOptions().train(true)), Error, Saying("[3, 5]"));
  check();
  // A mode that all modules have is not set again.
  struct Counts : nn::Module {
    void train(bool on) override { nn::Module::train(on), ++calls; }
    Variable forward(const Variable& x) { return x; }
    int calls = 0;
  };
  Counts counts;
  summary(counts, zeros({1}), SummaryOptions().train(true));
  CHECK(counts.calls == 0);
  summary(counts, zeros({1}));
  CHECK(counts.calls == 2);
  CHECK(counts.is_training());
}

TEST_CASE("summary does not write to buffers that the call leaves unchanged") {
  nn::BatchNorm1d norm(3);
  const std::int64_t version = norm->running_mean._version();
  summary(norm, rand({4, 3}));
  CHECK(norm->running_mean._version() == version);
  summary(norm, rand({4, 3}), SummaryOptions().train(true));
  CHECK(equal(norm->running_mean, zeros({3})));
  CHECK(norm->num_batches_tracked.item<std::int64_t>() == 0);
  const InferenceMode inference;
  nn::BatchNorm1d other(3);
  summary(other, rand({4, 3}), SummaryOptions().train(true));
  CHECK(equal(other->running_mean, zeros({3})));
}

TEST_CASE("summary takes several inputs, lists of columns and depths") {
  nn::Bilinear net(2, 3, 4);
  const Summary got = summary(net, {zeros({5, 2}), zeros({5, 3}, kFloat)});
  CHECK(row(got, "").inputs == std::vector<SummaryRow::Shape>{{5, 2}, {5, 3}});
  CHECK(got.input_bytes == 5 * 5 * 4);

  nn::Sequential nested(nn::Sequential(nn::Conv2d(1, 2, 3), nn::MaxPool2d(2)),
                        nn::Conv2d(nn::Conv2dOptions(2, 2, {1, 2})));
  nested->ptr<nn::Conv2dImpl>(1)->bias.set_requires_grad(false);
  const auto options = SummaryOptions().depth(1).columns(
      {"input_size", "kernel_size", "num_params", "params_percent", "mult_adds", "trainable"});
  const std::string text = summary(nested, zeros({1, 1, 6, 6}), options).str();
  CHECK_THAT(text, Contains("Input Shape   Kernel Shape  Param #  Param %  Mult-Adds  Trainable"));
  CHECK_THAT(
      text,
      Contains(
          "Sequential (0): 1-1              [1, 1, 6, 6]  --            20       66.67%   320        True"));
  CHECK_THAT(text, Contains("Conv2d (1): 1-2                  [1, 2, 2, 2]  [1, 2]        10       33.33%   "
                            "20         Partial"));
  CHECK_THAT(text, !Contains("MaxPool2d"));
  const std::string deep = summary(nested, zeros({1, 1, 6, 6}), SummaryOptions(options).depth(2)).str();
  CHECK_THAT(
      deep,
      Contains(
          "│    └─MaxPool2d (1): 2-2          [1, 2, 4, 4]  [2, 2]        --       --       --         --"));
}

TEST_CASE("summary has a row for a shared module that is not called, below the first caller") {
  struct Block : nn::Module {
    explicit Block(const nn::Linear& shared) { register_module("shared", shared); }
    Variable forward(const Variable& x) { return x + 1; }
  };
  struct Net : nn::Module {
    Net() {
      const nn::Linear shared(2, 2);
      for (const char* name : {"a", "b"})
        blocks.emplace_back(register_module(name, std::make_shared<Block>(shared)));
    }
    Variable forward(const Variable& x) { return blocks[1](x); }
    std::vector<nn::ModuleHolder<Block>> blocks;
  };
  Net net;
  const Summary got = summary(net, zeros({3, 2}));
  std::vector<std::string> paths;
  for (const SummaryRow& each : got.rows) paths.push_back(each.path);
  CHECK(paths == std::vector<std::string>{"", "b", "b.shared", "a"});
  CHECK(got.total_params == 6);
  CHECK(row(got, "b.shared").counted_params == 6);
  CHECK_FALSE(row(got, "b.shared").called);
  CHECK_FALSE(row(got, "b.shared").recursive);
}

TEST_CASE("summary prints further calls of a module as recursive or hides them") {
  struct Net : nn::Module {
    Net() { fc = register_module("fc", nn::Linear(2, 2)); }
    Variable forward(const Variable& x) { return fc(fc(x)); }
    nn::Linear fc = nullptr;
  };
  Net net;
  const Summary got = summary(net, zeros({3, 2}));
  CHECK(got.rows.size() == 3);
  CHECK(got.total_params == 6);
  CHECK(got.total_mult_adds == 36);
  CHECK_THAT(got.str(), Contains("Linear (fc): 1-2                 [3, 2]        (recursive)  18"));
  const Summary hidden = summary(net, zeros({3, 2}), SummaryOptions().hide_recursive(true));
  CHECK_THAT(hidden.str(), !Contains("recursive"));
  CHECK_THAT(hidden.str(), Contains("Total mult-adds (M): 0.00"));
}

TEST_CASE("summary records neither unfinished calls as results nor calls of copies and of other threads") {
  struct Net : nn::Module {
    Net() {
      first = register_module("first", nn::Linear(2, 2));
      second = register_module("second", nn::Linear(2, 3));
      act = register_module("act", nn::ReLU());
    }
    Variable forward(const Variable& x) {
      CHECK_THROWS_AS(first(zeros({1, 7})), Error);
      std::thread([&] { act(x); }).join();
      copy = nn::ReLU(std::dynamic_pointer_cast<nn::ReLUImpl>(act->clone()));
      return second(copy(x));
    }
    nn::Linear first = nullptr, second = nullptr;
    nn::ReLU act = nullptr, copy = nullptr;
  };
  const auto net = std::make_shared<Net>();
  const Summary got = summary(*net, zeros({3, 2}));
  CHECK(got.total_params == 15);
  CHECK(got.rows.size() == 4);
  CHECK(row(got, "first").called);
  CHECK(row(got, "first").outputs.empty());
  CHECK_FALSE(row(got, "act").called);
  CHECK(row(got, "").outputs == std::vector<SummaryRow::Shape>{{3, 3}});
  CHECK(row(got, "second").outputs == std::vector<SummaryRow::Shape>{{3, 3}});
  CHECK(net->copy(zeros({3, 2})).size(1) == 2);  // the copy's hooks do nothing
}

TEST_CASE("summary initializes lazy modules and counts their parameters") {
  nn::Sequential net(nn::LazyLinear(4), nn::ReLU());
  const Summary got = summary(net, zeros({2, 3}));
  CHECK(got.total_params == 16);
  CHECK(row(got, "0").mult_adds == 32);
}

TEST_CASE("summary as JSON has all rows and totals") {
  nn::Sequential net({{"conv", nn::Conv2d(1, 2, 3)}, {"act", nn::ReLU()}});
  const std::string json = summary(net, zeros({1, 1, 4, 4}), SummaryOptions().depth(0)).json();
  CHECK_THAT(json, StartsWith(R"({"forward_backward_bytes":64,"input_bytes":64,"param_bytes":80,"rows":[{)"));
  CHECK_THAT(
      json,
      Contains(R"("depth":1,"index":1,"inputs":[[1,1,4,4]],"kernel":"3, 3","mult_adds":80,"name":"conv",)"
               R"("output_bytes":32,"outputs":[[1,2,2,2]],"own":[{"count":18,"name":"weight",)"
               R"("shape":[2,1,3,3],"trainable":true},)"));
  CHECK_THAT(
      json,
      Contains(R"("params":20,"path":"conv","recursive":false,"trainable_params":20,"type":"Conv2d"})"));
  CHECK_THAT(json, EndsWith(R"(],"total_mult_adds":80,"total_params":20,"trainable_params":20})"));
}

TEST_CASE("summary says what is wrong with its arguments") {
  nn::Linear net(2, 2);
  CHECK_THROWS_MATCHES(summary(net, Variable()), Error,
                       Saying("input 0 of ebb::nn::LinearImpl is undefined"));
  CHECK_THROWS_MATCHES(summary(net, zeros({1, 2}), SummaryOptions().depth(-1)), Error, Saying("got -1"));
  CHECK_THROWS_MATCHES(summary(net, {zeros({1, 2}), zeros({1, 2})}), Error, Saying("LinearImpl"));
  CHECK_THROWS_MATCHES(summary(net, {}, SummaryOptions().columns({"params"})), Error,
                       Saying("no column 'params'. The columns are input_size"));
  CHECK_THROWS_MATCHES(summary(nn::Linear(nullptr), zeros({1})), Error, Saying("empty ModuleHolder"));
}
