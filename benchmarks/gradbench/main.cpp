// A tool of GradBench. Reads messages from stdin, one per line, and answers each with one line on stdout.
#include "eval.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>

namespace {

using gradbench::Json;
using Clock = std::chrono::steady_clock;

const std::map<std::string, gradbench::Eval>& evals() {
  static const std::map<std::string, gradbench::Eval> all = {
      {"ba", gradbench::ba()},       {"det", gradbench::det()},       {"gmm", gradbench::gmm()},
      {"hello", gradbench::hello()}, {"kmeans", gradbench::kmeans()}, {"llsq", gradbench::llsq()},
      {"lse", gradbench::lse()},     {"lstm", gradbench::lstm()},     {"ode", gradbench::ode()}};
  return all;
}

Json timing(const char* name, Clock::duration time) {
  return {{"name", name},
          {"nanoseconds", std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()}};
}

// Runs a function at least min_runs times and for at least min_seconds. If the message has neither limit, the
// function runs once.
Json evaluate(const Json& message) {
  const Json& input = message.at("input");
  const std::string module = message.at("module").get<std::string>();
  const std::string name = message.at("function").get<std::string>();
  const auto eval = evals().find(module);
  if (eval == evals().end() || !eval->second.count(name))
    return {{"success", false}, {"error", module + ": there is no function " + name}};
  const int min_runs = std::max(input.is_object() ? input.value("min_runs", 1) : 1, 1);
  const std::chrono::duration<double> min_time(input.is_object() ? input.value("min_seconds", 0.0) : 0.0);

  const auto prepared = Clock::now();
  const gradbench::Call call = eval->second.at(name)(input);
  Json timings = Json::array({timing("prepare", Clock::now() - prepared)});
  gradbench::Tensors results;
  Clock::duration spent{0};
  for (int run = 0; run < min_runs || spent < min_time; ++run) {
    const auto start = Clock::now();
    results = call.compute();
    const auto time = Clock::now() - start;
    timings.push_back(timing("evaluate", time));
    spent += time;
  }
  return {{"success", true}, {"output", call.output(results)}, {"timings", std::move(timings)}};
}

// Answers a message. The text of an error becomes the answer, because GradBench continues with the next
// message.
Json answer(const Json& message) {
  const std::string kind = message.at("kind").get<std::string>();
  if (kind == "start") return {{"tool", "ebb"}};
  if (kind == "define") return {{"success", evals().count(message.at("module").get<std::string>()) == 1}};
  if (kind != "evaluate") return Json::object();
  try {
    return evaluate(message);
  } catch (const std::exception& error) {
    return {{"success", false}, {"error", error.what()}};
  }
}

}  // namespace

int main() try {
  torch::set_num_threads(bench::threads());
  for (std::string line; std::getline(std::cin, line);) {
    const Json message = Json::parse(line);
    Json reply = answer(message);
    reply["id"] = message.at("id");
    std::cout << reply.dump() << std::endl;  // with a flush, because the eval waits for the answer
  }
} catch (const std::exception& error) {
  std::cerr << "gradbench: " << error.what() << '\n';
  return 1;
}
