// Warnings: the calls that warn, and the handlers that get the warnings.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace ebb;
namespace F = ebb::nn::functional;

namespace {

struct Listener : WarningHandler {
  std::vector<std::string> heard;
  void process(const Warning& warning) override { heard.push_back(warning.msg()); }
};

struct Strict : WarningHandler {
  void process(const Warning& warning) override { throw Error(warning.msg()); }
};

/// Returns the text that f writes to a stream of the process, through a file.
template <class Fn>
std::string written(std::FILE* stream, Fn f) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stream);
  const int kept = dup(fileno(stream));
  dup2(fileno(file), fileno(stream));
  f();
  std::fflush(stream);
  dup2(kept, fileno(stream));
  close(kept);
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("losses warn about each broadcast target and no other target") {
  Listener listener;
  const WarningHandlerGuard guard(&listener);
  const Variable column = ones({4, 1}), row = zeros({4});
  F::mse_loss(column, row);
  nn::MSELoss()(column, row);
  F::l1_loss(column, row);
  F::smooth_l1_loss(column, row);
  F::smooth_l1_loss(column, row, {}, 0.5);
  F::huber_loss(column, row);
  std::vector<std::string> expected;
  for (const char* loss :
       {"mse_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "smooth_l1_loss", "huber_loss"})
    expected.push_back(std::string(loss) +
                       ": Using a target size ([4]) that is different to the input size ([4, 1]). This will "
                       "likely lead to incorrect results due to broadcasting. Please ensure they have the "
                       "same size.");
  CHECK(listener.heard == expected);
  listener.heard.clear();
  F::mse_loss(row, row + 1);
  F::l1_loss(row, row + 1);
  F::smooth_l1_loss(row, row + 1);
  F::huber_loss(row, row + 1);
  mse_loss(column, row);  // as at::mse_loss, which does not warn
  CHECK(listener.heard.empty());
  CHECK_THROWS_WITH(F::mse_loss(column, Variable()), support::Contains("mse_loss: the target is undefined"));
  CHECK_THROWS_WITH(
      F::binary_cross_entropy(column, row),
      support::Contains("Using a target size ([4]) that is different to the input size ([4, 1])"));
}

TEST_CASE("warnings are written to stderr and not to stdout") {
  const auto call = [] { F::mse_loss(ones({4, 1}), zeros({4})); };
  const std::string said = written(stderr, call);
  CHECK(said.find("Warning: mse_loss: Using a target size ([4])") == 0);
  CHECK(said.back() == '\n');
  CHECK(written(stdout, [&] { written(stderr, call); }).empty());
}

TEST_CASE("WarningHandlerGuard sets the handler of its thread and restores it, and a handler may throw") {
  WarningHandler* const before = get_warning_handler();
  REQUIRE(before != nullptr);
  Listener outer, inner;
  {
    const WarningHandlerGuard one(&outer);
    {
      const WarningHandlerGuard two(&inner);
      warn("a shape ", IntArrayRef({2, 3}), " and ", 7);
      std::thread([&] { CHECK(get_warning_handler() == before); }).join();
    }
    warn(Warning("again"));
  }
  CHECK(inner.heard == std::vector<std::string>{"a shape [2, 3] and 7"});
  CHECK(outer.heard == std::vector<std::string>{"again"});
  CHECK(get_warning_handler() == before);
  set_warning_handler(&outer);
  CHECK(get_warning_handler() == &outer);
  set_warning_handler(nullptr);
  CHECK(get_warning_handler() == before);
  Strict strict;
  const WarningHandlerGuard guard(&strict);
  CHECK_THROWS_WITH(F::mse_loss(ones({4, 1}), zeros({4})), support::Contains("broadcasting"));
}

TEST_CASE("calls that are probably mistakes warn") {
  Listener listener;
  const WarningHandlerGuard guard(&listener);
  const Warning::WarnAlways always;
  const Variable one = ones({1}), bytes = ones({1}, kByte);
  const std::vector<std::pair<const char*, std::function<void()>>> table = {
      {"std: degrees of freedom", [&] { one.std(); }},
      {"var: degrees of freedom", [&] { one.var(0); }},
      {"var_mean: degrees of freedom", [&] { var_mean(one); }},
      {"kl_div: reduction kMean", [&] { nn::KLDivLoss()(one, one); }},
      {"numpy_T: the use of T", [&] { one.numpy_T(); }},
      {"where: a condition of dtype torch.uint8", [&] { where(bytes, one, one); }},
      {"Anomaly Detection has been enabled", [] { autograd::DetectAnomalyGuard detect; }},
  };
  for (const auto& [text, call] : table) {
    INFO(text);
    listener.heard.clear();
    call();
    REQUIRE(listener.heard.size() == 1);
    CHECK_THAT(listener.heard[0], support::Contains(text));
  }
  listener.heard.clear();
  ones({2}).std(), ones({2, 2}).numpy_T(), ones({}).numpy_T(), where(bytes != 0, one, one);
  nn::KLDivLoss(nn::KLDivLossOptions().reduction(kBatchMean))(one, one);
  CHECK(listener.heard.empty());
}
