// The gradbench process with pipes to its stdin and stdout, finite differences, and comparisons.
#include "tool.h"

#include "support/catch.h"
#include "support/compare.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace gradbench_test {
namespace {

class Tool {
 public:
  Tool() {
    std::array<int, 2> in{}, out{};
    if (::pipe(in.data()) != 0 || ::pipe(out.data()) != 0) FAIL("pipe");
    process_ = ::fork();
    if (process_ < 0) FAIL("fork");
    if (process_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (const int end : {in[0], in[1], out[0], out[1]}) ::close(end);
      ::execl(EBB_GRADBENCH_PROGRAM, EBB_GRADBENCH_PROGRAM, static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = ::fdopen(in[1], "w");
    out_ = ::fdopen(out[0], "r");
  }
  ~Tool() {
    std::fclose(in_);  // the end of its input ends the process
    std::fclose(out_);
    ::waitpid(process_, nullptr, 0);
  }

  std::string ask(const std::string& line) {
    std::fputs((line + "\n").c_str(), in_);
    std::fflush(in_);
    std::string answer;
    for (int c = std::fgetc(out_); c != '\n'; c = std::fgetc(out_)) {
      if (c == EOF) FAIL("the program ended before it answered " << line);
      answer.push_back(static_cast<char>(c));
    }
    return answer;
  }

 private:
  pid_t process_;
  std::FILE *in_, *out_;
};

}  // namespace

Json ask(Json message) {
  static Tool tool;
  static int id = 0;
  message["id"] = ++id;
  const Json answer = Json::parse(tool.ask(message.dump()));
  REQUIRE(answer.at("id") == id);
  return answer;
}

Json evaluate(const std::string& module, const std::string& function, const Json& input) {
  const Json answer =
      ask({{"kind", "evaluate"}, {"module", module}, {"function", function}, {"input", input}});
  INFO(answer.dump());
  REQUIRE(answer.at("success") == true);
  return answer;
}

Json output_of(const std::string& module, const std::string& function, const Json& input) {
  return evaluate(module, function, input).at("output");
}

// Finite differences and comparisons.

Numbers some(std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = std::sin(1.7 * static_cast<double>(i * i + 1));
  return numbers;
}

Rows some(std::size_t rows, std::size_t columns) {
  const Numbers all = some(rows * columns);
  Rows result;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto start = all.begin() + static_cast<std::ptrdiff_t>(row * columns);
    result.emplace_back(start, start + static_cast<std::ptrdiff_t>(columns));
  }
  return result;
}

Numbers flat(const Rows& rows) {
  Numbers all;
  for (const Numbers& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Numbers slopes(const std::function<double(const Numbers&)>& f, Numbers x) {
  Numbers result;
  const double h = 1e-3;
  for (double& entry : x) {
    const double at = entry;
    const auto moved = [&](double by) {
      entry = at + by;
      return f(x);
    };
    result.push_back((8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h));
    entry = at;
  }
  return result;
}

void check_close(const Json& given, const Numbers& expected, double tolerance) {
  const Numbers numbers = given.is_array() ? given.get<Numbers>() : Numbers{given.get<double>()};
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  support::require_close(numbers, expected, 0, tolerance * largest);
}

}  // namespace gradbench_test
