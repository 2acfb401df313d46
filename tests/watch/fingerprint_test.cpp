// Fingerprint and compare_fingerprints. data/fingerprint_torch.jsonl is written by torch 2.15 with the script
// of docs/debugging.md, for the run of torch_run().
#include <ebb/ebb.h>
#include <ebb/watch/fingerprint.h>

#include "support/catch.h"
#include "support/files.h"

#include <limits>
#include <sstream>

using namespace ebb;
using support::Contains;
using watch::compare_fingerprints;
using watch::Fingerprint;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream all(support::read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

// Writes a file that contains one tensor named x.
std::string file_of(const std::string& name, const Tensor& x) {
  nn::Linear unused(1, 1);
  Fingerprint run(*unused);
  run.add("x", x);
  const std::string path = support::temporary(name);
  run.write(path);
  return path;
}

// Compares two tensors through files.
watch::FingerprintComparison compared(const Tensor& a, const Tensor& b, double rtol = 0, double atol = 0) {
  return compare_fingerprints(file_of("a.jsonl", a), file_of("b.jsonl", b), rtol, atol);
}

// Trains a network with fixed weights for two steps, and returns the path of the file.
std::string torch_run(const std::string& name, float change_in_second_step = 0) {
  nn::Sequential net(nn::Linear(2, 3), nn::Tanh(), nn::Linear(3, 1));
  {
    NoGradGuard no_grad;
    for (Tensor& p : net->parameters()) p.copy_(arange(p.numel()).view(p.sizes()) * 0.25 - 0.5);
  }
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.5));
  Fingerprint run(*net);
  const Tensor x = tensor({1.0F, -2.0F, 0.5F, 3.0F}).view({2, 2});
  for (int step = 0; step < 2; ++step) {
    if (step == 1) NoGradGuard(), net->parameters()[3].data().add_(change_in_second_step);
    optimizer.zero_grad();
    net(x).square().sum().backward();
    optimizer.step();
  }
  run.add("special", tensor({1.5, kNaN, -2.0, kInfinity, 0.25}, kDouble));
  run.add("half", tensor({1.5, -2.0, 0.25, 8.0}, kHalf).view({2, 2}));
  run.add("long", tensor({3, -7}, kLong));
  run.add("bool", tensor({true, false, true}));
  run.add("empty", zeros({0, 3}));
  const std::string path = support::temporary(name);
  run.write(path);
  return path;
}

}  // namespace

TEST_CASE("Fingerprint records the tensors that torch records in the same run") {
  const std::string torch = source_dir() + "/tests/watch/data/fingerprint_torch.jsonl",
                    ebb = torch_run("ebb.jsonl");
  const auto close = compare_fingerprints(torch, ebb, 1e-5);
  INFO(close.str());
  CHECK(close.compared == 37);
  CHECK(close.differences.empty());
  CHECK(close.only_in_first.empty());
  CHECK(close.only_in_second.empty());
  // The hashes and the order of bytes agree too: these tensors are computed without rounding.
  const auto exact = compare_fingerprints(torch, ebb);
  for (const auto& difference : exact.differences)
    CHECK_THAT(difference.place,
               !support::StartsWith("step 0, output of 0") && !support::StartsWith("step 2"));
}

TEST_CASE("compare_fingerprints names the first tensor in which two runs differ") {
  const auto same = compare_fingerprints(torch_run("a.jsonl"), torch_run("b.jsonl"));
  CHECK(same.differences.empty());
  CHECK(same.str() == "0 of 37 tensors differ");

  const auto result = compare_fingerprints(torch_run("a.jsonl"), torch_run("b.jsonl", 1e-3F));
  REQUIRE_FALSE(result.differences.empty());
  CHECK(result.differences[0].place == "step 1, output of 2, call 0");
  CHECK(result.differences[0].relative_error > 1e-4);
  CHECK(result.differences[0].relative_error < 1e-1);
  CHECK_THAT(result.str(),
             Contains(" of 37 tensors differ, first: step 1, output of 2, call 0, relative error "));
  CHECK(compare_fingerprints(torch_run("a.jsonl"), torch_run("b.jsonl", 1e-3F), 0.5).differences.empty());
}

TEST_CASE("Fingerprint gives the same file for any number of threads") {
  const auto run = [](int threads) {
    const int before = get_num_threads();
    set_num_threads(threads);
    manual_seed(4);
    nn::Sequential net(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::ReLU(nn::ReLUOptions(true)),
                       nn::Flatten(), nn::Linear(8 * 30 * 30, 10));
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(1e-3));
    Fingerprint recorded(*net, 1);
    nn::functional::cross_entropy(net(randn({8, 3, 32, 32})), arange(8)).backward();
    optimizer.step();
    const std::string path = support::temporary("threads" + std::to_string(threads));
    recorded.write(path);
    set_num_threads(before);
    return support::read_file(path);
  };
  CHECK(run(1) == run(3));
}

TEST_CASE("compare_fingerprints judges errors by the tolerances") {
  manual_seed(5);
  const Tensor x = randn({40, 50}), error = randn({40, 50});
  CHECK(compared(x, x.clone()).differences.empty());
  const Tensor near = x + 1e-4 * error;
  CHECK(compared(x, near).differences.size() == 1);
  CHECK(compared(x, near, 1e-3).differences.empty());
  CHECK(compared(x, near, 1e-6).differences.size() == 1);
  const double relative = compared(x, near).differences[0].relative_error;
  CHECK(relative > 1e-5);
  CHECK(relative < 1e-3);
  CHECK(compared(x, near, 0, 1e-3).differences.empty());
  CHECK(compared(x, near, 0, 1e-7).differences.size() == 1);
  // Another order has the same norm, mean and extremes.
  CHECK(compared(x, x.flip(0), 1e-2).differences.size() == 1);
  // One element that is not an extreme.
  Tensor one = x.clone();
  one[3][4] += 1.0;
  CHECK(compared(x, one, 1e-4).differences.size() == 1);
  CHECK(compared(zeros({3}), zeros({3}), 1e-3).differences.empty());
  CHECK(compared(zeros({3}), full({3}, 1e-9), 1e-3).differences.size() == 1);
  CHECK(compared(zeros({3}), full({3}, 1e-9), 1e-3, 1e-8).differences.empty());
}

TEST_CASE("compare_fingerprints finds other shapes, dtypes, signs of zero and NaN") {
  const Tensor x = ones({2, 3});
  CHECK(compared(x, x.view({3, 2}), 1).differences[0].relative_error == kInfinity);
  CHECK(compared(x, x.to(kDouble)).differences.size() == 1);
  CHECK(compared(x, x.to(kDouble), 1e-6).differences.empty());
  CHECK(compared(zeros({2}), -zeros({2})).differences.size() == 1);
  CHECK(compared(zeros({2}), -zeros({2}), 1e-6).differences.empty());
  CHECK(compared(tensor({1.0, kNaN}), tensor({1.0, 1.0}), 1).differences.size() == 1);
  CHECK(compared(tensor({1.0, kNaN}), tensor({1.0, kInfinity}), 1).differences.size() == 1);
  CHECK(compared(tensor({1.0, kNaN}), tensor({1.0, kNaN})).differences.empty());
  // The sum of the squares overflows.
  CHECK(compared(full({2}, 1e200, kDouble), full({2}, 1e200, kDouble), 1e-6).differences.empty());
  CHECK(compared(full({2}, 1e200, kDouble), full({2}, 2e200, kDouble), 1e-6).differences.size() == 1);
}

TEST_CASE("compare_fingerprints lists tensors that only one file has") {
  const std::string a = file_of("a.jsonl", ones({1})), b = support::temporary("b.jsonl");
  support::write_file(b, support::read_file(a) + support::read_file(a));
  std::string other = support::read_file(a);
  other.replace(other.find("\"x\""), 3, "\"y\"");
  support::write_file(b, other);
  const auto result = compare_fingerprints(a, b);
  CHECK(result.compared == 0);
  CHECK(result.only_in_first == std::vector<std::string>{"step 0, tensor of x, call 0"});
  CHECK(result.only_in_second == std::vector<std::string>{"step 0, tensor of y, call 0"});
  CHECK(result.str() ==
        "0 of 0 tensors differ\n1 tensors are only in the first file, first: step 0, tensor of x, call 0\n"
        "1 tensors are only in the second file, first: step 0, tensor of y, call 0");
}

TEST_CASE("Fingerprint numbers repeated calls and records the given number of steps") {
  nn::Linear layer(2, 2);
  optim::SGD optimizer(layer->parameters(), optim::SGDOptions(0.1));
  Tensor other = ones({1}).requires_grad_();
  optim::SGD unrelated(std::vector<Tensor>{other}, optim::SGDOptions(0.1));
  Fingerprint run(*layer, 2);
  for (int step = 0; step < 4; ++step) {
    layer(layer(ones({1, 2}))).sum().backward();
    other.mutable_grad() = ones({1});
    unrelated.step();  // it updates no parameter of the module, so its steps do not count
    optimizer.step();
  }
  const std::string path = support::temporary("steps.jsonl");
  run.write(path);
  const std::vector<std::string> lines = lines_of(path);
  REQUIRE(lines.size() == 16);  // in each step two outputs, two gradients, and both parameters twice
  CHECK_THAT(lines[1], Contains(R"("call":1)") && Contains(R"("kind":"output")") && Contains(R"("step":0)"));
  CHECK_THAT(lines[3], Contains(R"("kind":"gradient")") && Contains(R"("call":1)"));
  CHECK_THAT(lines[4], Contains(R"("kind":"parameter gradient")") && Contains(R"("name":"weight")"));
  CHECK_THAT(lines[15],
             Contains(R"("kind":"parameter")") && Contains(R"("name":"bias")") && Contains(R"("step":1)"));
}

TEST_CASE("Fingerprint records a shared module once in each call, by its first name") {
  struct Net : nn::Module {
    Net() {
      first = register_module("first", nn::Linear(2, 2));
      second = register_module("second", first);
    }
    Variable forward(const Variable& x) { return second(first(x)); }
    nn::Linear first = nullptr, second = nullptr;
  };
  nn::ModuleHolder<Net> net(std::make_shared<Net>());
  Fingerprint run(*net);
  net(ones({1, 2}));
  const std::string path = support::temporary("shared.jsonl");
  run.write(path);
  const std::vector<std::string> lines = lines_of(path);
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Contains(R"("call":0)") && Contains(R"("name":"first")"));
  CHECK_THAT(lines[1], Contains(R"("call":1)") && Contains(R"("name":"first")"));
  CHECK_THAT(lines[2], Contains(R"("call":0)") && Contains(R"("name":"")"));
}

TEST_CASE("Fingerprint does not record copies of modules, which may live longer") {
  nn::Linear layer(2, 2), copy(nullptr);
  const std::string path = support::temporary("copy.jsonl");
  {
    Fingerprint run(*layer);
    copy = nn::Linear(std::dynamic_pointer_cast<nn::LinearImpl>(layer->clone()));
    layer(ones({1, 2}));
    copy(ones({1, 2}));
    run.write(path);
  }
  CHECK(lines_of(path).size() == 1);
  CHECK(copy->has_hooks());
  CHECK(copy(ones({1, 2})).size(1) == 2);
}

TEST_CASE("Fingerprint removes its hooks, and its graph may live longer") {
  nn::Sequential net(nn::Linear(2, 2), nn::ReLU(nn::ReLUOptions(true)));
  Tensor loss;
  {
    Fingerprint run(*net);
    loss = net(ones({1, 2})).sum();
  }
  for (const auto& each : net->modules()) CHECK_FALSE(each->has_hooks());
  CHECK_NOTHROW(loss.backward());
  CHECK_NOTHROW(net(ones({1, 2})));
}

TEST_CASE("Fingerprint warns if no module was called by its handle") {
  WarningHandler* const previous = Warning::get_warning_handler();
  struct Count : WarningHandler {
    void process(const Warning& warning) override { text = warning.msg(); }
    std::string text;
  } count;
  Warning::set_warning_handler(&count);
  nn::Linear layer(1, 1);
  Fingerprint run(*layer);
  layer->forward(ones({1, 1}));
  run.write(support::temporary("none.jsonl"));
  Warning::set_warning_handler(previous);
  CHECK_THAT(count.text, Contains("no module was called by its handle"));
}

TEST_CASE("Fingerprint and compare_fingerprints refuse wrong arguments and files") {
  nn::Linear layer(1, 1);
  CHECK_THROWS_MATCHES(Fingerprint(*layer, 0), Error, support::Saying("the number of steps is 0"));
  const std::string good = file_of("good.jsonl", ones({1})), bad = support::temporary("bad.jsonl");
  CHECK_THROWS_MATCHES(compare_fingerprints(good, good, -1), Error,
                       support::Saying("the tolerances -1 and 0"));
  CHECK_THROWS_MATCHES(compare_fingerprints(good, bad + ".none"), Error, support::Saying("bad.jsonl.none"));
  for (const std::string line : {"no JSON", "{}", "[1]", R"({"step":0})"}) {
    support::write_file(bad, support::read_file(good) + line + "\n");
    CHECK_THROWS_MATCHES(compare_fingerprints(good, bad), Error, support::Saying("line 2"));
  }
  CHECK_THROWS_MATCHES(Fingerprint(*layer).write("/nowhere/run.jsonl"), Error,
                       support::Saying("/nowhere/run.jsonl"));
}
