// Tests of the protocol of gradbench: messages that every eval sends, and invalid ones.
#include "support/catch.h"
#include "tool.h"

using namespace gradbench_test;

TEST_CASE("the tool reports its name and its evals") {
  CHECK(ask({{"kind", "start"}, {"eval", "hello"}}).at("tool") == "ebb");
  for (const char* eval : {"ba", "det", "gmm", "hello", "kmeans", "llsq", "lse", "lstm", "ode"})
    CHECK(ask({{"kind", "define"}, {"module", eval}}).at("success") == true);
  CHECK(ask({{"kind", "define"}, {"module", "particle"}}).at("success") == false);
}

TEST_CASE("a message without a payload is answered with its id") {
  CHECK(ask({{"kind", "analysis"}, {"of", 1}, {"valid", true}}).size() == 1);
}

TEST_CASE("a function runs at least min_runs times and min_seconds seconds") {
  const auto runs = [](const Json& wishes) {
    Json input = {{"x", some(5)}};
    input.update(wishes);
    const Json answer = evaluate("lse", "gradient", input);
    int count = 0;
    for (const Json& timing : answer.at("timings")) {
      CHECK(timing.at("nanoseconds").get<std::int64_t>() >= 0);
      count += timing.at("name") == "evaluate";
    }
    return count;
  };
  CHECK(runs(Json::object()) == 1);
  CHECK(runs({{"min_runs", 0}}) == 1);
  CHECK(runs({{"min_runs", 7}}) == 7);
  CHECK(runs({{"min_runs", 1}, {"min_seconds", 0.01}}) > 1);
}

TEST_CASE("an error is reported and the next message is answered") {
  const auto failed = [](const char* function, const Json& input) {
    const Json answer =
        ask({{"kind", "evaluate"}, {"module", "lse"}, {"function", function}, {"input", input}});
    CHECK(answer.at("success") == false);
    return answer.at("error").get<std::string>();
  };
  CHECK(failed("hessian", {{"x", some(3)}}) == "lse: there is no function hessian");
  CHECK_THAT(failed("primal", {{"y", some(3)}}), support::Contains("key 'x' not found"));
  CHECK_FALSE(failed("primal", {{"x", {1, "two"}}}).empty());
  CHECK_FALSE(failed("primal", {{"x", {{1, 2}, {3}}}}).empty());
  CHECK(output_of("hello", "square", 3) == 9);
}
