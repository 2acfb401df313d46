// SummaryWriter: the records of event files, compared with those of torch's SummaryWriter and read by
// TensorBoard's own reader where it is installed.
#include <ebb/vision.h>
#include <ebb/watch/figure.h>
#include <ebb/watch/summary_writer.h>

#include "event_reader.h"
#include "support/catch.h"
#include "support/files.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sstream>

using namespace ebb;
using events::events_of;
using support::Contains;
using support::Folder;
using support::Saying;
using watch::SummaryWriter;
using watch::SummaryWriterOptions;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns what a command prints.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  for (int c = 0; pipe && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  return ::pclose(pipe) == 0 ? text : "failed: " + text;
}

// Returns a Python that can import tensorboard: EBB_TENSORBOARD_PYTHON, or python3; or an empty text.
std::string python() {
  const char* const given = std::getenv("EBB_TENSORBOARD_PYTHON");
  const std::string name = given ? given : "python3";
  return output_of(name + " -c 'import tensorboard; print(1)' 2>/dev/null") == "1\n" ? name : "";
}

// Checks that TensorBoard reads these events from a folder.
void check_with_tensorboard(const Folder& folder, const std::vector<std::string>& expected) {
  static const std::string reader = python();
  if (reader.empty()) {
    WARN("TensorBoard's reader is not checked: set EBB_TENSORBOARD_PYTHON to a Python with tensorboard.");
    return;
  }
  const std::string script = source_dir() + "/tests/watch/print_events.py";
  CHECK(lines_of(output_of(reader + " " + script + " " + folder.path().string() + " 2>/dev/null")) ==
        expected);
}
void check_with_tensorboard(const Folder& folder) {
  check_with_tensorboard(folder, events_of(folder.path()));
}

std::string png_of(const Folder& folder) {
  const auto file = events::files_below(folder.path()).at(0);
  for (const std::string& record : events::records(support::read_file(file)))
    for (const auto& value : events::Reader(record).message(5).all(1))
      if (const events::Reader read(value.bytes); read.has(4)) return read.message(4).bytes(4);
  return {};
}

}  // namespace

TEST_CASE("SummaryWriter writes the same events as torch 2.15") {
  const Folder folder;
  SummaryWriter writer(folder.path(), SummaryWriterOptions().purge_step(2));
  writer.add_scalar("loss/train", 0.1, 2, 100.5);
  writer.add_scalar("nan", kNan, 3);
  writer.add_scalar("inf", tensor(-kInfinity), -1);
  writer.add_scalar("no step", 7);
  writer.add_scalars("loss/all", {{"a", 1}, {"b", 2.5}}, 4);
  const Tensor x = arange(-6, 6).to(kDouble) / 4;
  writer.add_histogram("tf", x, 1);
  writer.add_histogram("zeros", relu(x), 1);
  writer.add_histogram("equal", x, 1, 5);
  writer.add_histogram("same", ones({3}), 1, 4);
  writer.add_histogram("float", (arange(1000) * 37 % 211).to(kFloat) / 97 - 1, 1, 10);
  writer.add_text("notes", "**bold** \u00e9", 5);
  const Tensor labels = tensor({0, 1, 1, 0, 1, 0, 1, 1});
  const Tensor predictions = tensor({.1, .9, .4, .6, 1., 0., .25, .75}).to(kFloat);
  writer.add_pr_curve("pr", labels, predictions, 6, 5);
  writer.add_pr_curve("weighted", labels, predictions, 6, 4, arange(8));
  writer.add_images("grid", rand({10, 3, 4, 5}), 1);
  writer.add_image("gray", rand({4, 5}), 1, {}, "HW");
  writer.add_hparams({{"lr", 0.5}}, {{"hparam/acc", 0.75}}, "hp", 9);
  writer.add_hparams({{"name", "adam"}}, {}, "runs/b");

  // These lines are what print_events.py prints for the files that torch 2.15 writes by the same calls, with
  // numpy 2.4.6 and tensorboard 2.21, except that torch begins a session only in the run ".", after a second
  // line brain.Event:2, and that its grey image has three channels.
  CHECK(events_of(folder.path()) == lines_of(R"(. 0 brain.Event:2
. 2 session 1
. 2 scalar loss/train 0.100000001
. 3 scalar nan nan
. -1 scalar inf -inf
. 0 scalar no step 7
. 1 histogram tf -1.5 1.25 12 -1.5 9.125 | 591 from -1.62495793 | -1.47723448:1 -1.22085494:1 -0.917246389:1 -0.689140788:1 -0.470692431:1 -0.241539642:1 1e-12:1 0.265693606:1 0.517761674:1 0.758054867:1 1.00897103:1 1.34294044:1
. 1 histogram zeros 0 1.25 12 3.75 3.4375 | 295 from 0 | 1e-12:7 0.265693606:1 0.517761674:1 0.758054867:1 1.00897103:1 1.34294044:1
. 1 histogram equal -1.5 1.25 12 -1.5 9.125 | 6 from -1.5 | -0.95:3 -0.4:2 0.15:2 0.7:2 1.25:3
. 1 histogram same 1 1 3 3 3 | 2 from 1 | 1.25:3
. 1 histogram float -1 1.16494846 1000 81.2061805 401.757576 | 11 from -1 | -0.783505154:100 -0.567010307:100 -0.350515461:104 -0.134020615:100 0.0824742317:94 0.298969078:104 0.515463924:95 0.731958771:104 0.948453617:95 1.16494846:104
. 5 text notes/text_summary  7 [1] 2a2a626f6c642a2a20c3a9
. 6 pr_curves pr 1005 1 [6,5] 5 5 3 3 1 3 1 1 0 0 0 2 2 3 3 0 0 2 2 4 0.625 0.833333313 0.75 1 1 1 1 0.600000024 0.600000024 0.200000003
. 6 pr_curves weighted 1004 1 [6,4] 20 14 12 4 8 3 0 0 0 5 8 8 0 6 8 16 0.714285731 0.823529422 1 1 1 0.699999988 0.600000024 0.200000003
. 1 image grid 8 x 40 x 3
. 1 image gray 4 x 5 x 1
hp 0 brain.Event:2
hp 2 session 1
hp 9 hparams _hparams_/experiment 121822060a026c7220032a0e0a0c120a68706172616d2f616363 0 [] 
hp 9 hparams _hparams_/session_start_info 1a110a0f0a026c72120911000000000000e03f 0 [] 
hp 9 hparams _hparams_/session_end_info 22020801 0 [] 
hp 9 scalar hparam/acc 0.75
loss_all_a 0 brain.Event:2
loss_all_a 2 session 1
loss_all_a 4 scalar loss/all 1
loss_all_b 0 brain.Event:2
loss_all_b 2 session 1
loss_all_b 4 scalar loss/all 2.5
runs/b 0 brain.Event:2
runs/b 2 session 1
runs/b 0 hparams _hparams_/experiment 120a22080a046e616d652001 0 [] 
runs/b 0 hparams _hparams_/session_start_info 1a100a0e0a046e616d6512061a046164616d 0 [] 
runs/b 0 hparams _hparams_/session_end_info 22020801 0 [] 
)"));
  check_with_tensorboard(folder);
}

TEST_CASE("a scalar record has the bytes that TensorBoard's own writer gives") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalar("loss", 0.25, 3, 1000.5);
  const auto file = events::files_below(folder.path()).at(0);
  const std::string bytes = support::read_file(file);
  // The record after the first one, as tensorboard 2.21 writes it for torch 2.15.
  CHECK(events::hex(bytes.substr(40)) ==
        "1a00000000000000129bd82d090000000000448f4010032a0d0a0b0a046c6f7373150000803e603f05f2");
}

TEST_CASE("add_histogram counts NaN and infinities apart and accepts empty tensors") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_histogram("some", tensor({1.0, kNan, 2.0, kInfinity, -kInfinity, kNan}), 1, 1);
  writer.add_histogram("none", tensor({kNan}), 2);
  writer.add_histogram("empty", empty({0, 3}), 3, 7);
  writer.add_histogram("huge", tensor({-1e300, 0.0, 1e25}, kDouble), 4, "tensorflow", {}, 2);
  writer.add_histogram("joined", arange(10), 5, 10, {}, 4);
  writer.add_histogram("Half", tensor({1.0, 2.0}).to(kHalf), 6, 1);
  writer.add_histogram("Bool", tensor({1, 0, 1}).to(kBool), 7, 2);
  writer.add_histogram("negative", tensor({-3.0, -2.0}), 8, 1);
  CHECK(events_of(folder.path()) == lines_of(R"(. 0 brain.Event:2
. 1 histogram some 1 2 2 3 5 | 2 from 1 | 2:2
. 1 scalar some/not_finite 4
. 2 histogram none 0 0 0 0 0 | 0 from  | 
. 2 scalar none/not_finite 1
. 3 histogram empty 0 0 0 0 0 | 0 from  | 
. 4 histogram huge -1e+300 1e+25 3 -1e+300 inf | 3 from -1e+300 | 0:1 1e+25:2
. 5 histogram joined 0 9 10 45 285 | 5 from 0 | 2.7:3 5.4:3 8.1:3 9:1
. 6 histogram Half 1 2 2 3 5 | 2 from 1 | 2:2
. 7 histogram Bool 0 1 3 2 2 | 3 from 0 | 0.5:1 1:2
. 8 histogram negative -3 -2 2 -5 13 | 2 from -3 | -2:2
)"));
  check_with_tensorboard(folder);
}

TEST_CASE("add_histogram counts every element of a tensor of several chunks once") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  const Tensor large = ones({5000000});
  large.slice(0, 0, 2000000).fill_(-1);
  large[4999999] = 3;
  writer.add_histogram("large", large, 1, 2);
  CHECK(events_of(folder.path()).at(1) ==
        ". 1 histogram large -1 3 5000000 1000002 5000008 | 3 from -1 | 1:2000000 3:3000000");
}

TEST_CASE("add_image writes the pixels of torch's conversion") {
  const Folder folder;
  const auto pixels = [](const Tensor& image, const char* format) {
    const Folder own;
    SummaryWriter writer(own.path());
    image.dim() == 4 ? writer.add_images("x", image, 1, {}, format)
                     : writer.add_image("x", image, 1, {}, format);
    return vision::decode_png(png_of(own));
  };
  const Tensor values = tensor({-1.0, 0.0, 0.499, 0.5, 0.999, 1.0, 7.0, kNan}).to(kFloat).reshape({1, 2, 4});
  // convert_to_HWC of torch.utils.tensorboard, whose NaN depends on the machine.
  const Tensor bytes = tensor({0, 0, 127, 127, 254, 255, 255, 0}).to(kByte).reshape({1, 2, 4});
  CHECK(equal(pixels(values, "CHW"), bytes));
  CHECK(equal(pixels(values.to(kDouble), "CHW"), bytes));
  CHECK(equal(pixels(values[0], "HW"), bytes));
  CHECK(equal(pixels(values[0].t(), "WH"), bytes));
  CHECK(equal(pixels(bytes, "CHW"), bytes));
  const Tensor color = (arange(2 * 3 * 4) * 9).to(kByte).reshape({2, 3, 4});  // RGBA
  CHECK(equal(pixels(color, "HWC"), color.permute({2, 0, 1})));
  CHECK(equal(pixels(color.permute({2, 0, 1}), "CHW"), color.permute({2, 0, 1})));

  const Tensor batch = (arange(9 * 3 * 2 * 2) * 2).to(kByte).reshape({9, 3, 2, 2});
  const Tensor grid = pixels(batch, "NCHW");
  REQUIRE(grid.sizes() == IntArrayRef{3, 4, 16});
  for (int i = 0; i < 9; ++i) {
    const int row = i / 8 * 2, column = i % 8 * 2;
    CHECK(equal(grid.slice(1, row, row + 2).slice(2, column, column + 2), batch[i]));
  }
  CHECK(grid.slice(1, 2).slice(2, 2).eq(0).all().item<bool>());
  CHECK(equal(pixels(batch.permute({0, 2, 3, 1}), "NHWC"), grid));
}

TEST_CASE("add_figure writes the pixels of the chart") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  watch::Figure figure("losses", "step", "nats");
  figure.line("train", {3, 2, 1.5});
  writer.add_figure("chart", figure, 2);
  CHECK(equal(vision::decode_png(png_of(folder)), figure.pixels()));
}

TEST_CASE("add_hparams keeps the type of each value") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_hparams(
      {{"bias", true}, {"layers", 3}, {"lr", 0.1f}, {"steps", std::int64_t{1} << 40}, {"z", "adam"}},
      {{"b", 2}, {"a", kNan}}, "run");
  const auto lines = events_of(folder / "run");
  REQUIRE(lines.size() == 6);
  // HParamInfo: the type is 2 for a flag, 3 for a number and 1 for a text.
  CHECK_THAT(lines[1], Contains(events::hex("\x0a\x04"
                                            "bias\x20\x02")));
  CHECK_THAT(lines[1], Contains(events::hex("\x0a\x06"
                                            "layers\x20\x03")));
  CHECK_THAT(lines[1], Contains(events::hex("\x0a\x01"
                                            "z\x20\x01")));
  // google.protobuf.Value: bool_value is field 4, number_value field 2, string_value field 3.
  CHECK_THAT(lines[2], Contains(events::hex("\x0a\x04"
                                            "bias\x12\x02\x20\x01")));
  CHECK_THAT(lines[2], Contains(events::hex("\x0a\x06"
                                            "layers\x12\x09\x11") +
                                "0000000000000840"));
  CHECK_THAT(lines[2], Contains(events::hex("\x0a\x01"
                                            "z\x12\x06\x1a\x04"
                                            "adam")));
  CHECK(lines[4] == ". 0 scalar a nan");
  CHECK(lines[5] == ". 0 scalar b 2");
  // Without a name, each call makes a run of its own.
  writer.add_hparams({}, {{"b", 1}});
  writer.add_hparams({}, {{"b", 1}});
  CHECK(folder.names().size() == 4);
  check_with_tensorboard(folder);
}

TEST_CASE("bytes of tags and texts that are not UTF-8 are replaced") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_text("caf\xe9",
                  "\xff"
                  "a\xc3\xa9\xe2\x82",
                  1);
  writer.add_scalar("caf\xe9", 1, 1);
  CHECK(events_of(folder.path()).at(1) == ". 1 text caf\ufffd/text_summary  7 [1] efbfbd61c3a9efbfbd");
  CHECK(events_of(folder.path()).at(2) == ". 1 scalar caf\ufffd 1");
  check_with_tensorboard(folder);
}

TEST_CASE("SummaryWriter refuses arguments that it cannot record") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  const auto refuses = [](const char* part, const auto& call) {
    INFO(part);
    CHECK_THROWS_MATCHES(call(), Error, Saying(part));
  };
  refuses("add_scalar: the tag is empty", [&] { writer.add_scalar("", 1); });
  refuses("add_scalar: expected a tensor of one element for \"x\", got Float[2]",
          [&] { writer.add_scalar("x", ones({2})); });
  refuses("got an undefined tensor", [&] { writer.add_scalar("x", Tensor()); });
  refuses("\"x/../../y\" cannot name a run", [&] { writer.add_hparams({}, {}, "x/../../y"); });
  refuses("\"/tmp\" cannot name a run", [&] { writer.add_hparams({}, {}, "/tmp"); });
  refuses("bins must be \"tensorflow\" or a number, got \"auto\"",
          [&] { writer.add_histogram("x", ones({2}), 1, "auto"); });
  refuses("bins must be 1 to 4194304, got 0", [&] { writer.add_histogram("x", ones({2}), 1, 0); });
  refuses("max_bins must be positive, got -1",
          [&] { writer.add_histogram("x", ones({2}), 1, "tensorflow", {}, -1); });
  refuses("add_histogram: expected a tensor for \"x\"", [&] { writer.add_histogram("x", Tensor()); });
  refuses("dataformats must be an order of NCHW, NHW, CHW or HW, got \"CWX\"",
          [&] { writer.add_image("x", ones({3, 4, 4}), 1, {}, "CWX"); });
  refuses("expected Byte or floating pixels [CHW] for \"x\", got Long[3, 4, 4]",
          [&] { writer.add_image("x", ones({3, 4, 4}, kLong)); });
  refuses("expected Byte or floating pixels [NCHW]", [&] { writer.add_images("x", ones({3, 4, 4})); });
  refuses("expected 1, 3 or 4 channels for \"x\", got 2", [&] { writer.add_image("x", ones({2, 4, 4})); });
  refuses("got Float[3, 0, 4]", [&] { writer.add_image("x", ones({3, 0, 4})); });
  refuses("as many labels as predictions", [&] { writer.add_pr_curve("x", ones({2}), ones({3})); });
  refuses("one weight for each label",
          [&] { writer.add_pr_curve("x", ones({2}), ones({2}), 1, 127, ones({3})); });
  refuses("must be probabilities from 0 to 1", [&] { writer.add_pr_curve("x", ones({2}), full({2}, 1.5)); });
  refuses("must be probabilities from 0 to 1", [&] { writer.add_pr_curve("x", ones({1}), full({1}, kNan)); });
  refuses("labels of \"x\" must be 0 or 1", [&] { writer.add_pr_curve("x", full({2}, 2), ones({2})); });
  refuses("num_thresholds must be 2 to", [&] { writer.add_pr_curve("x", ones({2}), ones({2}), 1, 1); });
  CHECK(events_of(folder.path()).size() == 1);
}

TEST_CASE("SummaryWriter has a default folder and names files with the suffix") {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  {
    const SummaryWriter writer("", SummaryWriterOptions().comment("_lr1").filename_suffix(".first"));
    CHECK_THAT(writer.get_logdir(), support::StartsWith("runs/") && support::EndsWith("_lr1"));
    CHECK_THAT(events::files_below(folder.path()).at(0).string(), support::EndsWith(".first"));
  }
  std::filesystem::current_path(before);
}

TEST_CASE("a writer that was closed begins a new file") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalar("x", 1, 1);
  writer.close();
  writer.add_scalar("x", 2, 2);
  writer.flush();
  CHECK(events_of(folder.path()) == std::vector<std::string>{". 0 brain.Event:2", ". 1 scalar x 1",
                                                             ". 0 brain.Event:2", ". 2 scalar x 2"});
}

TEST_CASE("a file that ends within a record is read up to it and then the file of the resumed run is read") {
  const Folder folder;
  {
    SummaryWriter killed(folder.path());
    killed.add_scalar("x", 1, 1);
    killed.add_scalar("x", 2, 2);
  }
  const auto file = events::files_below(folder.path()).at(0);
  const std::string bytes = support::read_file(file);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    std::size_t rest = 0;
    CHECK(events::records(std::string_view(bytes).substr(0, size), &rest).size() <= 3);
  }
  std::filesystem::resize_file(file, bytes.size() - 3);
  SummaryWriter resumed(folder.path(), SummaryWriterOptions().purge_step(2));
  resumed.add_scalar("x", 5, 2);
  CHECK(events::files_below(folder.path()).at(0) == file);
  check_with_tensorboard(folder, {". 0 brain.Event:2", ". 1 scalar x 1", ". 0 brain.Event:2", ". 2 session 1",
                                  ". 2 scalar x 5"});
}
