// Drawings of the examples: progress bars for all terminal widths, and texts inside charts.
#include "common/chart.h"
#include "common/progress.h"
#include "support/catch.h"
#include "support/files.h"

#include <regex>

using support::Contains;

TEST_CASE("a progress bar and its last line are never wider than the terminal") {
  for (const std::int64_t done : {0, 1, 450, 1000, 1024}) {
    example::Progress progress("epoch 12/30", 1000);
    if (done) progress.advance(done, 0.5);
    for (std::size_t columns = 0; columns < 130; ++columns) {
      INFO(columns);
      CHECK(progress.bar_line(columns).size() <= columns);
      CHECK(progress.last_line("test accuracy 97.20 %", columns).size() <= columns);
    }
  }
}

TEST_CASE("a progress bar in a narrow terminal keeps its most important parts") {
  example::Progress progress("epoch 12/30", 1000);
  progress.advance(450, 0.5);
  CHECK(progress.bar_line(19) == "epoch 12/30   45%");
  CHECK_THAT(progress.bar_line(39), Contains("epoch 12/30  [====") && Contains(" 45%  ETA "));
  CHECK_THAT(progress.bar_line(79), Contains("] ") && Contains("loss 0.5000") && Contains(" images/s  ETA "));
  CHECK(progress.last_line("test accuracy 97.20 %", 19) == "test accuracy 97.20");
  CHECK(progress.last_line("test accuracy 97.20 %", 39) == "epoch 12/30  test accuracy 97.20 %");
}

TEST_CASE("a chart is wide enough for long texts") {
  const std::string label = "steps until the pole fell (500 are the most that are played)",
                    name = "frozen convolutions with a new classifier on top of them";
  const std::string path = support::temporary("chart.svg");
  example::Chart("A chart", "a step", label)
      .line(name, {1, -2e-5})
      .line("short", {2, 3})
      .points("&<", {0}, {1})
      .write(path);
  const std::string svg = support::read_file(path);
  std::smatch box;
  REQUIRE(std::regex_search(svg, box, std::regex("viewBox=\"0 0 (\\d+) (\\d+)\"")));
  const std::regex text(R"re(<text x="(\S+)" y="(\S+)" text-anchor="(\w+)"[^>]*>([^<]*)</text>)re");
  int texts = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), text), end; it != end; ++it, ++texts) {
    INFO(it->str());
    const double width = 7 * static_cast<double>((*it)[4].length()), x = std::stod((*it)[1]);
    const double left = (*it)[3] == "start" ? x : (*it)[3] == "end" ? x - width : x - width / 2;
    CHECK(left >= 0);
    CHECK(left + width <= std::stod(box[1]));
    CHECK(std::stod((*it)[2]) <= std::stod(box[2]));
  }
  CHECK(texts >= 8);
}
