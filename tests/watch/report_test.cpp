// Report: the page's data, its rewrites, resumed reports, and the page in headless Chromium, if that is
// installed.
#include <ebb/ebb.h>
#include <ebb/watch/report.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"
#include "support/scopes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

using namespace ebb;
using nlohmann::json;
using support::Contains;
using support::Folder;
using watch::Report;
using watch::ReportOptions;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kBegin = "<script type=\"application/json\" id=\"data\">";

// The data of a page, which ends at the first end of a script behind its begin, as in a browser.
json data_of(const std::string& path) {
  const std::string page = support::read_file(path);
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  const std::size_t begin = page.find(kBegin) + std::string(kBegin).size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

// The items of a series, by default of the report's own run.
json items_of(const std::string& path, const char* kind, const char* tag, const char* run = "run") {
  return data_of(path)["series"][kind][tag][run]["items"];
}

ReportOptions rarely() { return ReportOptions().interval(3600); }

// A report with a record of every kind.
void write_everything(const std::string& path) {
  manual_seed(1);
  Report report(path, rarely().title("Everything & <more>").run("main"));
  for (int i = 0; i < 40; ++i) {
    report.add_scalar("loss/train", i == 20 ? kNaN : std::exp(-0.1 * i), i);
    report.run("second").add_scalar("loss/train", std::exp(-0.05 * i), i);
    report.add_scalar("long/unbroken_name_of_a_tag_that_is_much_wider_than_a_narrow_screen_can_show",
                      1e-5 * i, i);
    if (i % 10 == 0) report.add_histogram("weights", randn({1000}) * (1 + i), i);
    if (i % 10 == 0) report.add_image("image", rand({3, 8, 16}), i);
  }
  report.add_text("notes", "one\n</script><script>document.title = 'taken over'</script>", 0);
  report.add_confusion_table("validation", tensor({{8, 2}, {1, 9}}), {"cat", "dog"}, 39);
  report.add_pr_curve("dogs", tensor({0, 1, 1, 0}), tensor({0.1f, 0.8f, 0.6f, 0.7f}), 39);
  report.add_hparams({{"lr", 0.1}, {"nesterov", true}, {"schedule", "cosine"}}, {{"accuracy", 0.85}},
                     "trial");
  report.add_summary("Net\n  Linear 10 parameters");
}

}  // namespace

TEST_CASE("a report is a page from its construction on, and close marks it as finished") {
  const Folder folder;
  Report report(folder / "run.html", rarely());
  json data = data_of(folder / "run.html");
  CHECK(data["state"] == "running");
  CHECK(data["title"] == "run.html");
  CHECK(data["facts"].dump().find(version()) != std::string::npos);
  report.add_scalar("loss", 0.5, 3);
  report.close();
  data = data_of(folder / "run.html");
  CHECK(data["state"] == "finished");
  CHECK(data["runs"] == json({"run"}));
  const json points = items_of(folder / "run.html", "scalar", "loss");
  REQUIRE(points.size() == 1);
  CHECK(points[0][0] == 3);
  CHECK(points[0][2] == 0.5);
  report.add_scalar("loss", 0.25);
  report.flush();
  data = data_of(folder / "run.html");
  CHECK(data["state"] == "running");
  CHECK(items_of(folder / "run.html", "scalar", "loss")[1][0] == 4);
  CHECK(folder.names() == std::set<std::string>{"run.html"});
}

TEST_CASE("a report is rewritten at most once per interval") {
  const Folder folder;
  Report rare(folder / "rare.html", rarely()), often(folder / "often.html", ReportOptions().interval(0));
  const std::string first = support::read_file(folder / "rare.html");
  for (int i = 0; i < 100; ++i) rare.add_scalar("loss", i, i);
  CHECK(support::read_file(folder / "rare.html") == first);
  int rewrites = 0;
  for (int i = 0; i < 1000 && rewrites == 0; ++i) {  // a rewrite is at most 5 % of the time
    often.add_scalar("loss", i, i);
    rewrites += data_of(folder / "often.html")["series"].contains("scalar");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(rewrites == 1);
}

TEST_CASE("a long curve keeps its peaks, its mean and its newest value in a bounded number of points") {
  const Folder folder;
  Report report(folder / "run.html", rarely().points(64));
  constexpr int kValues = 5003;
  double sum = 0;
  for (int i = 0; i < kValues; ++i) {
    const double value = i == 1234 ? 1000 : i == 2345 ? -1000 : i == 3456 ? kNaN : i % 7;
    if (i != 3456) sum += value;
    report.add_scalar("loss", value, 10 * i);
  }
  report.flush();
  const json curve = data_of(folder / "run.html")["series"]["scalar"]["loss"]["run"],
             &points = curve["items"];
  CHECK(points.size() <= 64);
  CHECK(points.size() >= 32);
  CHECK(curve["width"] == 128);
  CHECK(points[0].size() == 3);  // the first value stays alone
  CHECK(points[0][0] == 0);
  CHECK(points[0][2] == 0);
  double least = 0, most = 0, total = 0;
  std::int64_t finite = 1, nonfinite = 0, last_step = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const json& p = points[i];
    CHECK(p[0].get<std::int64_t>() == last_step + 10);
    last_step = p[3];
    finite += p[4].get<std::int64_t>();
    nonfinite += p[5].get<std::int64_t>();
    total += p[6].get<double>() * p[4].get<double>();
    least = std::min(least, p[7].get<double>());
    most = std::max(most, p[8].get<double>());
  }
  CHECK(finite == kValues - 1);
  CHECK(nonfinite == 1);
  CHECK(last_step == 10 * (kValues - 1));
  CHECK(least == -1000);
  CHECK(most == 1000);
  CHECK(total == Approx(sum).epsilon(1e-6));
  CHECK(points.back()[2] == (kValues - 1) % 7);
}

TEST_CASE("values that are not finite stay in a curve by name") {
  const Folder folder;
  Report report(folder / "run.html", rarely());
  for (const double value : {kNaN, HUGE_VAL, -HUGE_VAL, 1e300, -kNaN}) report.add_scalar("loss", value);
  report.flush();
  const json points = items_of(folder / "run.html", "scalar", "loss");
  CHECK(points[4][2] == "nan");
  CHECK(points[0][2] == "nan");
  CHECK(points[1][2] == "inf");
  CHECK(points[2][2] == "-inf");
  CHECK(points[3][2] == 1e300);
}

TEST_CASE("a series keeps the newest record and an even selection of the others") {
  const Folder folder;
  Report report(folder / "run.html", rarely().samples(4));
  const std::vector<std::vector<int>> kept = {{0},          {0, 1},       {0, 1, 2}, {0, 1, 2, 3}, {0, 2, 4},
                                              {0, 2, 4, 5}, {0, 2, 4, 6}, {0, 4, 7}, {0, 4, 8}};
  for (int i = 0; i < 9; ++i) {
    report.add_text("note", "text " + std::to_string(i), i);
    report.flush();
    std::vector<int> steps;
    for (const json& item : items_of(folder / "run.html", "text", "note")) {
      steps.push_back(item["step"]);
      CHECK(item["text"] == "text " + std::to_string(steps.back()));
    }
    CHECK(steps == kept[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("texts cannot end the element of the data, and a report holds every kind of record") {
  const Folder folder;
  write_everything(folder / "run.html");
  const json data = data_of(folder / "run.html"), &series = data["series"];
  CHECK(data["title"] == "Everything & <more>");
  CHECK(series["text"]["notes"]["main"]["items"][0]["text"].get<std::string>().starts_with("one\n</script>"));
  CHECK(series["histogram"]["weights"]["main"]["items"].size() == 4);
  CHECK(series["histogram"]["weights"]["main"]["items"][3]["count"] == 1000);
  CHECK(series["image"]["image"]["main"]["items"][0]["width"] == 16);
  CHECK(series["image"]["image"]["main"]["items"][0]["png"].get<std::string>().starts_with("iVBORw0KGgo"));
  CHECK(series["confusion"]["validation"]["main"]["items"][0]["cells"].dump() ==
        "[[0,0,8.0],[0,1,2.0],[1,0,1.0],[1,1,9.0]]");
  CHECK(series["pr_curve"]["dogs"]["main"]["items"][0]["recall"].size() == 127);
  const json& trial = series["hparams"]["hparams"]["trial"]["items"][0];
  CHECK(trial["hparams"].dump() == R"({"lr":0.1,"nesterov":true,"schedule":"cosine"})");
  CHECK(trial["metrics"].dump() == R"({"accuracy":0.85})");
  CHECK(series["summary"]["model"]["main"]["items"][0]["text"] == "Net\n  Linear 10 parameters");
  CHECK(series["scalar"]["loss/train"].size() == 2);
}

TEST_CASE("a resumed report continues its records, and purge_step drops the ones that are repeated") {
  const Folder folder;
  const std::string path = folder / "run.html";
  const auto record = [&](Report& report, int begin, int end) {
    for (int i = begin; i < end; ++i) report.add_scalar("loss", i, i);
    for (int i = begin; i < end; ++i) report.add_text("note", std::to_string(i), i);
  };
  {
    Report report(path, rarely().points(16).samples(4).resume(true));
    record(report, 0, 50);
    report.add_summary("net");
  }
  const json whole = data_of(path);
  {
    Report report(path, rarely().points(16).samples(4).resume(true));
  }
  for (const char* part : {"series", "runs", "started"}) CHECK(data_of(path)[part] == whole[part]);
  {
    Report report(path, rarely().points(16).samples(4).resume(true).purge_step(48));
    CHECK(items_of(path, "scalar", "loss").size() == 12);
    CHECK(items_of(path, "text", "note").back()["step"] < 48);
    record(report, 48, 50);
  }
  CHECK(items_of(path, "scalar", "loss").back()[2] == 49);
  CHECK(items_of(path, "text", "note").back()["step"] == 49);
  Report report(path, rarely());
  CHECK(data_of(path)["series"].empty());
}

TEST_CASE("a report refuses wrong paths, options and files to resume") {
  const Folder folder;
  const auto message = [&](const std::string& path, const ReportOptions& options) -> std::string {
    try {
      Report report(path, options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK_THAT(message(folder / "missing/run.html", {}), Contains("missing/run.html"));
  CHECK_THAT(message(folder / "", {}), Contains("is not the name of a file"));
  CHECK_THAT(message(folder.path(), {}), Contains("is not the name of a file"));
  CHECK_THAT(message(folder / "a.html", ReportOptions().interval(-1)), Contains("got -1, 1000 and 20"));
  CHECK_THAT(message(folder / "a.html", ReportOptions().interval(kNaN)), Contains("interval"));
  CHECK_THAT(message(folder / "a.html", ReportOptions().points(1)), Contains("at least 2 points"));
  CHECK_THAT(message(folder / "a.html", ReportOptions().purge_step(3)), Contains("resume(true)"));
  CHECK(folder.names().empty());
  support::write_file(folder / "a.html", "<html></html>");
  CHECK_THAT(message(folder / "a.html", ReportOptions().resume(true)),
             Contains("not a page that ebb::watch::Report wrote"));
  const std::string begin = std::string(kBegin), end = "</script>";
  for (const char* damaged :
       {"{", "[]", R"({"version":1})",
        R"({"version":2,"series":{"scalar":{"a":{"b":{"width":1,"count":1,"items":[[1]]}}}}})",
        R"({"version":2,"series":{"scalar":{"a":{"b":{"width":0,"count":1,"items":[[1,2,3]]}}}}})",
        R"({"version":2,"series":{"scalar":{"a":{"b":{"width":1,"count":1,"items":[[1,2,3,4]]}}}}})",
        R"({"version":2,"series":{"text":{"a":{"b":{"items":3}}}}})",
        R"({"version":2,"series":{"text":{"a":[]}}})"}) {
    support::write_file(folder / "a.html", begin + damaged + end);
    INFO(damaged);
    CHECK_THAT(message(folder / "a.html", ReportOptions().resume(true)),
               Contains("a.html\" cannot be resumed"));
  }
}

TEST_CASE("Report refuses empty run names and tables whose shape does not fit the labels") {
  const Folder folder;
  Report report(folder / "run.html", rarely());
  CHECK(&report.run("a") == &report.run("a"));
  CHECK_THROWS_WITH(report.run(""), Contains("name is empty"));
  CHECK_THROWS_WITH(report.add_confusion_table("t", zeros({2, 3})), Contains("[n, n]") && Contains("[2, 3]"));
  CHECK_THROWS_WITH(report.add_confusion_table("t", zeros({2, 2}), {"a"}), Contains("with 1 labels"));
  CHECK_THROWS_WITH(report.add_confusion_table("t", Tensor()), Contains("[n, n]"));
  CHECK_THROWS_WITH(report.add_confusion_table("", ones({2, 2})), Contains("the tag is empty"));
  CHECK_THROWS_WITH(report.add_confusion_table("t", full({2, 2}, kNaN)), Contains("nan is not a count"));
  report.add_confusion_table("t", ones({1, 1}, kLong));
  report.flush();
  CHECK(data_of(folder / "run.html")["runs"] == json({"run"}));
}

TEST_CASE("a report warns once while its file cannot be written, and flush throws") {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "sub");
  support::Warnings warnings;
  {
    Report report(folder / "sub/run.html", ReportOptions().interval(0));
    std::filesystem::remove_all(folder.path() / "sub");
    for (int i = 0; warnings.texts.empty() && i < 1000; ++i) {
      report.add_scalar("loss", i, i);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    report.add_scalar("loss", 1);
    REQUIRE(warnings.texts.size() == 1);
    CHECK_THAT(warnings.texts[0], Contains("sub/run.html") && Contains("tries again"));
    CHECK_THROWS_WITH(report.flush(), Contains("sub/run.html"));
    CHECK_THROWS_WITH(report.close(), Contains("sub/run.html"));
    std::filesystem::create_directory(folder.path() / "sub");
    report.flush();
    CHECK(items_of(folder / "sub/run.html", "scalar", "loss").size() >= 2);
    std::filesystem::remove_all(folder.path() / "sub");
    report.add_scalar("loss", 1);
  }
  CHECK(warnings.texts.size() == 2);
}

TEST_CASE("an exception that ends a report's scope marks the run as stopped") {
  const Folder folder;
  try {
    Report report(folder / "run.html", rarely());
    report.add_scalar("loss", 1);
    throw std::runtime_error("out of data");
  } catch (const std::runtime_error&) {
  }
  CHECK(data_of(folder / "run.html")["state"] == "stopped");
}

TEST_CASE("many threads record in one report") {
  const Folder folder;
  Report report(folder / "run.html", rarely());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        report.add_scalar("shared", i);
        report.run("thread " + std::to_string(t)).add_scalar("own", i, i);
        if (i % 50 == 0) report.flush();
      }
    });
  for (std::thread& thread : threads) thread.join();
  report.close();
  const json scalars = data_of(folder / "run.html")["series"]["scalar"];
  CHECK(scalars["shared"]["run"]["items"].size() == 800);
  CHECK(scalars["own"].size() == 4);
  for (const json& curve : scalars["own"]) CHECK(curve["items"].size() == 200);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a report that is killed at any system call of a rewrite stays a whole page") {
  const Folder folder;
  const std::string path = folder / "run.html";
  {
    Report report(path, rarely());
  }
  int kills = 0;
  const auto rewrite = [&] {
    Report report(path, rarely().resume(true));
    report.add_scalar("loss", 1);
  };
  for (; support::is_killed_at(kills, rewrite); ++kills) CHECK(data_of(path)["version"] == 2);
  CHECK(kills > 4);
  CHECK(data_of(path)["state"] == "finished");
}

TEST_CASE("a forked child does not write its parent's report") {
  const Folder folder;
  auto report = std::make_unique<Report>(folder / "run.html", rarely());
  report->add_scalar("loss", 1);
  const std::string before = support::read_file(folder / "run.html");
  CHECK(support::status_of_child([&] {
          bool is_refused = false;
          try {
            report->add_summary("net");
          } catch (const Error& error) {
            is_refused = std::string(error.what()).find("forked child") != std::string::npos;
          }
          report->flush();
          report.reset();
          return is_refused;
        }) == 0);
  CHECK(support::read_file(folder / "run.html") == before);
}
#endif
