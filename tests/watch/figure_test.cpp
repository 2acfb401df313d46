// Figure: what its SVG and its pixels show.
#include <ebb/ebb.h>
#include <ebb/vision/grid.h>
#include <ebb/vision/image_io.h>
#include <ebb/watch/figure.h>

#include "support/catch.h"
#include "support/files.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace ebb;
using ebb::watch::Figure;
using support::Saying;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the elements of a kind, from the name to the end of the tag.
std::vector<std::string> elements_of(const std::string& svg, const std::string& name) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = svg.find("<" + name + " ", at)) != std::string::npos; ++at)
    found.push_back(svg.substr(at, svg.find('>', at) - at));
  return found;
}

std::string attribute(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"") + name.size() + 3;
  return element.substr(at, element.find('"', at) - at);
}

// Returns the texts whose elements contain `part`.
std::vector<std::string> texts_of(const std::string& svg, const std::string& part = "") {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = svg.find("<text ", at)) != std::string::npos; ++at) {
    const std::size_t begin = svg.find('>', at) + 1;
    if (svg.substr(at, begin - at).find(part) != std::string::npos)
      found.push_back(svg.substr(begin, svg.find('<', begin) - begin));
  }
  return found;
}

// Returns the texts that are aligned at their end: the labels of the y axis, from below.
std::vector<std::string> y_labels(const Figure& figure) { return texts_of(figure.svg(), "\"end\""); }

// Returns the paths of curves, which are 1.75 wide.
std::vector<std::string> curves_of(const std::string& svg) {
  std::vector<std::string> found;
  for (const std::string& path : elements_of(svg, "path"))
    if (attribute(path, "stroke-width") == "1.75") found.push_back(attribute(path, "d"));
  return found;
}

std::ptrdiff_t count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// Returns the summed coverage by the first series' color: blue minus red is 0 in grey and 178 in this color.
double blue_area(const Variable& pixels) {
  return (pixels[2].to(kDouble) - pixels[0].to(kDouble)).sum().item<double>() / 178;
}

// Returns whether a frame of three pixels at the border is white, so that nothing is cut.
bool has_white_border(const Variable& pixels) {
  const std::int64_t height = pixels.size(1), width = pixels.size(2);
  const Variable dark = pixels.lt(255);
  const auto inside = dark.slice(1, 3, height - 3).slice(2, 3, width - 3).sum().item<std::int64_t>();
  return inside > 0 && dark.sum().item<std::int64_t>() == inside;
}

// Returns the bytes of a text in base64, which has '=' in place of the characters that the last group lacks.
std::string bytes_of_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  REQUIRE(text.size() % 4 == 0);
  REQUIRE(text.find_first_not_of(digits) >= text.size() - 2);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    int bits = 0;
    for (std::size_t k = 0; k < 4; ++k)
      bits = bits << 6 | (text[i + k] == '=' ? 0 : static_cast<int>(digits.find(text[i + k])));
    for (int k = 0; k < 3 - (text[i + 2] == '=') - (text[i + 3] == '='); ++k)
      bytes += static_cast<char>(bits >> (16 - 8 * k) & 255);
  }
  return bytes;
}

using Labels = std::vector<std::string>;
using Values = std::vector<double>;

}  // namespace

TEST_CASE("a figure labels a linear axis with multiples of 1 or 2 or 5 times a power of ten") {
  CHECK(y_labels(Figure("f").line("", {0, 1})) == Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(y_labels(Figure("f").line("", {-3, 70})) == Labels{"0", "10", "20", "30", "40", "50", "60", "70"});
  CHECK(y_labels(Figure("f").line("", {0.013, 0.016})) ==
        Labels{"0.0130", "0.0135", "0.0140", "0.0145", "0.0150", "0.0155", "0.0160"});
  CHECK(y_labels(Figure("f").line("", {-0.25, 0.25})) == Labels{"-0.2", "-0.1", "0", "0.1", "0.2"});
  CHECK(y_labels(Figure("f").line("", {1, 1 + 4e-7})).back() == "1.0000004");
  CHECK(y_labels(Figure("f").line("", {0, 4e-5})) == Labels{"0", "1e-5", "2e-5", "3e-5", "4e-5"});
  CHECK(y_labels(Figure("f").line("", {0, 3e6})) ==
        Labels{"0", "5.0e5", "1.0e6", "1.5e6", "2.0e6", "2.5e6", "3.0e6"});
}

TEST_CASE("a figure labels a logarithmic axis with powers of ten") {
  CHECK(y_labels(Figure("f").line("", {0.002, 300}).logarithmic_y()) ==
        Labels{"0.01", "0.1", "1", "10", "100"});
  CHECK(y_labels(Figure("f").line("", {2e-6, 3}).logarithmic_y()) ==
        Labels{"1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1e0"});
  // Fewer than two powers of ten.
  CHECK(y_labels(Figure("f").line("", {1.5, 25}).logarithmic_y()) == Labels{"2", "5", "10", "20"});
  CHECK(y_labels(Figure("f").line("", {2.1, 2.9}).logarithmic_y()).size() > 3);
  const Labels wide = y_labels(Figure("f").line("", {1e-200, 1e200}).logarithmic_y());
  CHECK(wide.size() > 3);
  CHECK(wide.size() < 10);
  const Labels across = texts_of(Figure("f").line("", {1, 1e3, 1e6}, {1, 2, 3}).logarithmic_x().svg());
  CHECK(has(across, "1e0"));
  CHECK(has(across, "1e6"));
}

TEST_CASE("values without a position interrupt a curve and a single value has a marker") {
  const Values y = {1, 2, kNaN, 3, kInfinity, 4, 5};
  const std::vector<std::string> curves = curves_of(Figure("f").line("", y).svg());
  REQUIRE(curves.size() == 1);
  CHECK(count(curves[0], 'M') == 3);
  CHECK(count(curves[0], 'L') == 2);
  CHECK(count(curves_of(Figure("f").line("", {1, -1, 0, 2, 3}).logarithmic_y().svg())[0], 'M') == 2);
  Values long_curve(100, kNaN);
  CHECK(blue_area(Figure("f").line("", long_curve).pixels()) == 0);
  long_curve[40] = 1;
  CHECK(blue_area(Figure("f").line("", long_curve).pixels()) > 20);
  // Beyond 30 points only values between gaps are marked.
  CHECK(Figure("f").line("", Values(30, 1)).svg().find("h0") != std::string::npos);
  CHECK(Figure("f").line("", Values(31, 1)).svg().find("h0") == std::string::npos);
}

TEST_CASE("a curve that hides an earlier one is dashed") {
  Values a, b;
  for (int i = 0; i < 100; ++i) {
    a.push_back(i);
    b.push_back(i < 90 ? i : 0);
  }
  const auto pieces = [](const Figure& figure) {
    std::vector<bool> is_dashed;
    for (const std::string& curve : curves_of(figure.svg())) is_dashed.push_back(count(curve, 'M') > 5);
    return is_dashed;
  };
  CHECK(pieces(Figure("f").line("", a).line("", b)) == std::vector{false, true});
  CHECK(pieces(Figure("f").line("", a).line("", Values(100, 50)).line("", a)) ==
        std::vector{false, false, true});
  // A curve with another spacing, and a short curve on a long one.
  CHECK(pieces(Figure("f").line("", a).line("", {0, 99}, {0, 99})) == std::vector{false, true});
  CHECK(pieces(Figure("f").line("", a).line("", {0, 40}, {0, 40})) == std::vector{false, false});
  // All three curves are visible where they are equal.
  const Figure three = Figure("f").line("", a).line("", a).line("", a);
  const std::vector<std::string> curves = curves_of(three.svg());
  CHECK(count(curves[1], 'M') == count(curves[2], 'M'));
  const Variable pixels = three.pixels();
  const auto shows = [&](int r, int g, int b_) {
    return pixels[0].eq(r).logical_and(pixels[1].eq(g)).logical_and(pixels[2].eq(b_)).sum().item<int>() > 20;
  };
  CHECK(shows(0x00, 0x72, 0xb2));
  CHECK(shows(0xd5, 0x5e, 0x00));
  CHECK(shows(0x00, 0x9e, 0x73));
}

TEST_CASE("a curve of a million points gives a small file that has its extremes") {
  Values y(1000000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(static_cast<double>(i));
  const std::string calm = Figure("f").line("", y).svg();
  CHECK(calm.size() < 100000);
  y[777777] = 30;
  const std::string svg = Figure("f").line("", y).svg();
  CHECK(has(texts_of(svg), "30"));
  const std::string curve = curves_of(svg)[0];
  double top = 1e9;
  for (std::size_t at = 0; (at = curve.find(' ', at)) != std::string::npos; ++at)
    top = std::min(top, std::stod(curve.substr(at, 10)));
  CHECK(top < 80);
  CHECK(Figure("f").points("", y, y).svg().size() < 300000);
  // Every second value is missing, in two curves that hide each other.
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 2 == 0 ? kNaN : static_cast<double>(i);
  CHECK(Figure("f").line("", y).line("", y).svg().size() < 300000);
}

TEST_CASE("a disc covers its area at each scale") {
  const Figure figure = Figure("f").points("", {1}, {1});
  const double area = 3 * 3 * 3.14159265;
  CHECK(blue_area(figure.pixels()) == Approx(area).epsilon(0.03));
  CHECK(blue_area(figure.pixels(2)) == Approx(4 * area).epsilon(0.02));
  CHECK(blue_area(figure.pixels(1.5)) == Approx(2.25 * area).epsilon(0.02));
  const Variable one = figure.pixels(), two = figure.pixels(2);
  CHECK(two.size(1) == 2 * one.size(1));
  CHECK(two.size(2) == 2 * one.size(2));
}

TEST_CASE("a picture at twice the scale shows the same") {
  const Figure figure = Figure("title", "x", "y").line("curve", {1, 3, 2});
  const Variable one = figure.pixels().to(kDouble), two = figure.pixels(2).to(kDouble);
  const Variable halved = two.view({3, one.size(1), 2, one.size(2), 2}).mean(std::vector<std::int64_t>{2, 4});
  CHECK((halved - one).abs().sum().item<double>() < 0.3 * (255 - one).sum().item<double>());
}

TEST_CASE("a curve covers its length times its width") {
  Values y(100);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i);
  // Without margins of 2 and 4 percent.
  const double width = 550 / 1.04, height = 310 / 1.08;
  CHECK(blue_area(Figure("f").line("", y).pixels()) ==
        Approx(1.75 * std::hypot(width, height)).epsilon(0.02));
  CHECK(blue_area(Figure("f").line("", Values(100, 1)).pixels()) == Approx(1.75 * width).epsilon(0.02));
}

TEST_CASE("each series of points has another marker") {
  Figure figure("f");
  for (int i = 0; i < 5; ++i) figure.points("", {1}, {static_cast<double>(i)});
  std::set<std::string> shapes;
  for (const std::string& path : elements_of(figure.svg(), "path"))
    if (attribute(path, "stroke") == "#ffffff")
      shapes.insert(std::to_string(count(path, 'M')) + "," + std::to_string(count(path, 'L')));
  CHECK(shapes.size() >= 4);  // a cross and a plus have as many lines
}

TEST_CASE("bars stand on zero in groups of the same labels") {
  const std::string svg =
      Figure("f").bars("ours", {"a", "b"}, {1, -1}).bars("theirs", {"a", "b"}, {0.5, kNaN}).svg();
  std::vector<std::vector<double>> boxes;
  for (const std::string& box : elements_of(svg, "rect"))
    if (box.find(" x=") != std::string::npos) {
      boxes.emplace_back();
      for (const char* name : {"x", "y", "width", "height"})
        boxes.back().push_back(std::stod(attribute(box, name)));
    }
  REQUIRE(boxes.size() == 5);  // three bars and two samples of the legend
  CHECK(boxes[0][1] + boxes[0][3] == Approx(boxes[1][1]).margin(0.11));  // both touch zero
  CHECK(boxes[0][3] == Approx(boxes[1][3]).margin(0.11));
  CHECK(boxes[3][3] == Approx(boxes[0][3] / 2).margin(0.11));
  CHECK(boxes[3][0] == Approx(boxes[0][0] + boxes[0][2]).margin(0.11));  // side by side
  CHECK(has(texts_of(svg), "theirs"));
  CHECK(y_labels(Figure("f").bars("", {"a", "b"}, {3, 5}))[0] == "0");
  CHECK(y_labels(Figure("f").bars("", {"a", "b"}, {30, 5000}).logarithmic_y()) ==
        Labels{"10", "100", "1000"});
  CHECK(blue_area(Figure("f").bars("", {"a", "b"}, {1, 1}).logarithmic_y().pixels()) > 1000);
}

TEST_CASE("labels of bars are turned or left out if they have no room") {
  Labels labels;
  for (int i = 0; i < 200; ++i) labels.push_back("a long class name " + std::to_string(i));
  const auto some = [&](std::ptrdiff_t n) { return Labels(labels.begin(), labels.begin() + n); };
  CHECK(Figure("f").bars("", some(2), Values(2, 1)).svg().find("rotate") == std::string::npos);
  const std::string all = Figure("f").bars("", some(20), Values(20, 1)).svg();
  CHECK(texts_of(all, "rotate").size() == 20);
  const Figure many = Figure("f").bars("", labels, Values(200, 1));
  CHECK(texts_of(many.svg(), "rotate").size() < 45);
  CHECK(has_white_border(many.pixels()));
}

TEST_CASE("nothing is cut if texts are long") {
  const std::string text =
      "a text that is much longer than the axis WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
  const Values y = {1234567.001, 1234567.0023};
  const Figure base = Figure("f").size(60, 60);
  for (const Figure& figure :
       {Figure(text).size(60, 60).line("", y), Figure("f", text).size(60, 60).line("", y),
        Figure("f", "", text).size(60, 60).line("", y), Figure("f").line(text, y),
        Figure("f").line("", {1e9 + 0.001, 1e9 + 0.002}, y), Figure("f").bars("", {text, text}, {1, 2}),
        Figure::confusion_table(text, eye(2), {text, text}),
        Figure::image_grid("f", rand({4, 1, 28, 28}), 2, {text, text}, {text, text}),
        Figure::image_grid(text, rand({4, 1, 28, 28}), 2), Figure::panels(text, {base, base}, 2)}) {
    const Variable pixels = figure.pixels();
    CHECK(has_white_border(pixels));
    CHECK((pixels.size(1) > 500 || pixels.size(2) > 500 || y_labels(figure).size() > 2));
  }
}

TEST_CASE("an extreme range of values gives finite positions") {
  for (const Values& y : {Values{}, Values{kNaN}, Values{0, 0}, Values{2.5e-7, 2.5e-7}, Values{-1e300, 1e300},
                          Values{-1.7e308, 1.7e308, 1}, Values{5e-324, 1e-323}, Values{1e-300, 2e-300},
                          Values{1e16, 1e16 + 2}, Values{-5}}) {
    for (const bool log : {false, true}) {
      Figure figure("f");
      figure.line("", y).bars("", {"a"}, {y.empty() ? kNaN : y[0]}).points("", y, y);
      Figure plain = Figure("f").line("", y, y);
      if (log) figure.logarithmic_y(), plain.logarithmic_y().logarithmic_x();
      const std::string svg = figure.svg() + plain.svg();
      for (const char* bad : {"nan", "inf"}) {
        for (const std::string& path : elements_of(svg, "path")) CHECK(path.find(bad) == std::string::npos);
        for (const std::string& text : elements_of(svg, "text")) CHECK(text.find(bad) == std::string::npos);
      }
      CHECK(texts_of(plain.svg()).size() > 2);
      CHECK(has_white_border(figure.pixels()));
    }
  }
}

TEST_CASE("texts are escaped and the SVG has a title") {
  const std::string svg = Figure("a < b & \"c\"", "\xff caf\xc3\xa9\n", "y").line("<script>", {1, 2}).svg();
  CHECK(svg.find("<title>a &#60; b &#38; &#34;c&#34;</title>") != std::string::npos);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(has(texts_of(svg), "\xef\xbf\xbd caf\xc3\xa9 "));
  CHECK(svg.find("role=\"img\"") != std::string::npos);
}

TEST_CASE("each printable character has its own glyph in pixels") {
  std::set<std::string> seen;
  for (char c = 32; c < 127; ++c) {
    const Variable pixels = Figure(std::string("|") + c + "|").size(50, 50).pixels();
    seen.emplace(static_cast<const char*>(pixels.data_ptr()), pixels.nbytes());
  }
  CHECK(seen.size() == 94);  // I and l are equal, as in other sans-serif fonts
  const auto width = [](const std::string& title) { return Figure(title).size(50, 50).pixels().size(2); };
  CHECK(width(std::string(40, 'W')) == std::ceil(40 * 15.0 + 20));  // an advance of 30 / 30 of 15
  std::string accents;
  for (int i = 0; i < 20; ++i) accents += "\xc3\xa9";
  CHECK(width(accents) == 20 * 10 + 20);  // a box for each character, not for each byte
}

TEST_CASE("a confusion table shades a cell by its part of the row") {
  const Variable counts = tensor({90, 10, 0, 0, 50, 0, 1, 0, 3}, kLong).view({3, 3});
  const Figure figure = Figure::confusion_table("t", counts, {"cat", "dog", "owl"});
  const Labels texts = texts_of(figure.svg());
  for (const char* text : {"90", "10", "50", "3", "cat", "owl", "true", "predicted"}) CHECK(has(texts, text));
  CHECK(texts_of(figure.svg(), "#ffffff") == Labels{"90", "50", "3"});  // on dark cells
  const Labels rates = texts_of(Figure::confusion_table("t", counts / 100.0).svg());
  CHECK(has(rates, "0.9"));
  CHECK(has(rates, "0.5"));
  // Without labels a cell has 28 pixels. It is white for 0 and dark for the whole row.
  const Variable bare = Figure::confusion_table("", tensor({1.0, 0.0, 0.0, 0.0}).view({2, 2})).pixels();
  const auto red = [&](std::int64_t y, std::int64_t x) { return bare[0][y][x].item<int>(); };
  const std::int64_t bottom = bare.size(1) - 12, right = bare.size(2) - 12;
  CHECK(red(bottom - 54, right - 54) == 0);
  CHECK(red(bottom - 54, right) == 255);
  CHECK(red(bottom, right - 54) == 255);  // a row without counts
  // 100 classes have no numbers, and not all labels.
  const Figure large = Figure::confusion_table("t", rand({100, 100}), Labels(100, "name"));
  CHECK(texts_of(large.svg()).size() < 90);
  CHECK(large.pixels().size(2) < 800);
}

TEST_CASE("a bare grid of images has the pixels of make_grid") {
  const Variable images = rand({5, 3, 20, 30});
  const Variable expected = vision::make_grid(
      (images.repeat_interleave(2, 2).repeat_interleave(2, 3) * 255).round().to(kByte), 3, 2, 255);
  CHECK(equal(Figure::image_grid("", images, 3).pixels(), expected));
  CHECK(equal(Figure::image_grid("", (images * 255).round().to(kByte), 3).pixels(), expected));
  std::set<std::ptrdiff_t> paddings;
  for (std::int64_t width = 1; width <= 12; ++width) {
    const Figure figure = Figure::image_grid("", rand({1, 3, 20, width}), 1);
    const std::string base64 = attribute(elements_of(figure.svg(), "image").at(0), "href").substr(22);
    paddings.insert(count(base64, '='));
    CHECK(equal(vision::decode_png(bytes_of_base64(base64)), figure.pixels()));
  }
  CHECK(paddings == std::set<std::ptrdiff_t>{0, 1, 2});
}

TEST_CASE("a grid of images accepts grey and transparent images and values outside of the range") {
  const Variable grey = full({1, 1, 64, 64}, 0.5);
  CHECK(Figure::image_grid("", grey, 1).pixels()[2][40][40].item<int>() == 128);
  const Variable rgba = cat({zeros({1, 3, 64, 64}), full({1, 1, 64, 64}, 0.25)}, 1);
  CHECK(Figure::image_grid("", rgba, 1).pixels()[0][40][40].item<int>() == 191);
  const Variable odd = tensor({kNaN, kInfinity, -2.0, 7.0}).view({1, 1, 2, 2});
  const Variable pixels = Figure::image_grid("", odd, 1).pixels()[0];
  CHECK(pixels[5][5].item<int>() == 0);
  CHECK(pixels[5][40].item<int>() == 255);
  CHECK(pixels[40][5].item<int>() == 0);
  CHECK(pixels[40][40].item<int>() == 255);
  const Labels texts =
      texts_of(Figure::image_grid("t", rand({5, 1, 28, 28}), 3, {"r1", "r2"}, {"c1", "c2", "c3"}).svg());
  CHECK(texts == Labels{"r1", "r2", "c1", "c2", "c3", "t"});
}

TEST_CASE("panels share one legend if it is the same") {
  const Figure a = Figure("a").line("CPU", {1, 2}).line("GPU", {2, 3});
  const Figure b = Figure("b").line("CPU", {4, 2}).line("GPU", {}), c = Figure("c").line("TPU", {1, 2});
  const auto names = [](const Figure& figure, const std::string& name) {
    const Labels texts = texts_of(figure.svg());
    return std::count(texts.begin(), texts.end(), name);
  };
  CHECK(names(Figure::panels("t", {a, b}, 2), "CPU") == 1);
  CHECK(names(Figure::panels("t", {a, b}, 1), "CPU") == 2);
  CHECK(names(Figure::panels("t", {a, c, b}, 3), "CPU") == 2);
  CHECK(names(Figure::panels("t", {Figure::panels("inner", {a, b}, 2), c}, 1), "inner") == 1);
  const Variable row = Figure::panels("", {a, b}, 2).pixels(),
                 column = Figure::panels("", {a, b}, 1).pixels();
  CHECK(column.size(1) == 2 * a.pixels().size(1));
  CHECK(row.size(1) == a.pixels().size(1));
}

TEST_CASE("a copy of a figure is independent") {
  Figure a = Figure("f").line("one", {1, 2});
  Figure b = a;
  b.line("two", {3, 4}).logarithmic_y();
  CHECK(curves_of(a.svg()).size() == 1);
  CHECK(y_labels(a).back() == "2.0");
  CHECK(curves_of(b.svg()).size() == 2);
  a = b;
  CHECK(a.svg() == b.svg());
}

TEST_CASE("write writes SVG or PNG by the name") {
  const support::Folder folder;
  const Figure figure = Figure("f").line("l", {1, 2});
  figure.write(folder / "f.svg");
  CHECK(support::read_file(folder / "f.svg") == figure.svg());
  figure.write(folder / "f.png");
  CHECK(equal(vision::read_image(folder / "f.png"), figure.pixels()));
  figure.write(folder / "f.png", 2);
  CHECK(equal(vision::read_image(folder / "f.png"), figure.pixels(2)));
  CHECK_THROWS_MATCHES(figure.write(folder / "f.pdf"), Error, Saying("f.pdf"));
  CHECK_THROWS_MATCHES(figure.write(folder / "missing/f.svg"), Error, Saying("missing/f.svg"));
  CHECK_THROWS_MATCHES(figure.write(folder / "missing/f.png"), Error, Saying("missing/f.png"));
  CHECK(folder.names() == std::set<std::string>{"f.svg", "f.png"});
}

TEST_CASE("a figure refuses arguments that do not fit") {
  Figure figure("f");
  CHECK_THROWS_MATCHES(figure.line("l", {1, 2}, {1}), Error, Saying("\"l\" has 2 positions and 1 values"));
  CHECK_THROWS_MATCHES(figure.points("p", {}, {1}), Error, Saying("Figure::points"));
  CHECK_THROWS_MATCHES(figure.bars("b", {"a"}, {1, 2}), Error, Saying("1 positions and 2 values"));
  CHECK_THROWS_MATCHES(figure.bars("b", {}, {}), Error, Saying("no labels"));
  figure.bars("b", {"a"}, {1});
  CHECK_THROWS_MATCHES(figure.bars("c", {"x"}, {1}), Error, Saying("the labels of \"c\""));
  CHECK_THROWS_MATCHES(figure.size(0, 100), Error, Saying("0 x 100"));
  CHECK_THROWS_MATCHES(figure.pixels(0), Error, Saying("a scale of 0"));
  CHECK_THROWS_MATCHES(figure.pixels(kNaN), Error, Saying("scale"));
  CHECK_THROWS_MATCHES(figure.pixels(1e6), Error, Saying("scale"));
  Figure table = Figure::confusion_table("the table", eye(2));
  CHECK_THROWS_MATCHES(table.line("l", {1}), Error, Saying("the table"));
  CHECK_THROWS_MATCHES(table.logarithmic_x(), Error, Saying("Figure::logarithmic_x"));

  CHECK_THROWS_MATCHES(Figure::confusion_table("t", zeros({2, 3})), Error, Saying("[2, 3]"));
  CHECK_THROWS_MATCHES(Figure::confusion_table("t", Variable()), Error, Saying("confusion_table"));
  CHECK_THROWS_MATCHES(Figure::confusion_table("t", -eye(2)), Error, Saying("minimum of -1"));
  CHECK_THROWS_MATCHES(Figure::confusion_table("t", eye(2) * kNaN), Error, Saying("finite"));
  CHECK_THROWS_MATCHES(Figure::confusion_table("t", eye(2), {"a"}), Error, Saying("2 classes have 1 labels"));
  CHECK_THROWS_MATCHES(Figure::image_grid("t", rand({1, 2, 4, 4}), 1), Error, Saying("[1, 2, 4, 4]"));
  CHECK_THROWS_MATCHES(Figure::image_grid("t", rand({3, 4, 4}), 1), Error, Saying("[3, 4, 4]"));
  CHECK_THROWS_MATCHES(Figure::image_grid("t", zeros({1, 1, 4, 4}, kLong), 1), Error, Saying("image_grid"));
  CHECK_THROWS_MATCHES(Figure::image_grid("t", rand({1, 1, 4, 4}), 0), Error, Saying("columns"));
  CHECK_THROWS_MATCHES(Figure::image_grid("t", rand({3, 1, 4, 4}), 2, {"a"}), Error, Saying("2 rows have 1"));
  CHECK_THROWS_MATCHES(Figure::image_grid("t", rand({3, 1, 4, 4}), 2, {}, {"a"}), Error,
                       Saying("2 columns have 1"));
  CHECK_THROWS_MATCHES(Figure::panels("t", {}, 0), Error, Saying("columns"));
}
