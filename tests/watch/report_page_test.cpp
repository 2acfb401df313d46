// The page of a Report in headless Chromium, if that is installed: it draws every record without a message on
// the console, fits narrow screens, follows a running training, and can be used with the keyboard.
#include <ebb/ebb.h>
#include <ebb/watch/report.h>

#include "support/catch.h"
#include "support/files.h"
#include "support/tool.h"

#include <cmath>
#include <cstdlib>

using namespace ebb;
using support::Contains;
using support::Folder;
using watch::Report;
using watch::ReportOptions;

namespace {

bool has_browser() { return support::has_tool("chromium", "chromium"); }

void replace(std::string& text, const std::string& old, const std::string& with) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  text.replace(at, old.size(), with);
}

// The document after four seconds of Chromium's clock, and the messages on its console.
struct Shown {
  std::string document, console;
};

// Opens the page with a window of this size. `before` runs before the page's own script, `after` runs one
// second later. `result(text)` adds a text to the document.
Shown shown(const Folder& folder, const std::string& size, const std::string& before,
            const std::string& after) {
  std::string page = support::read_file(folder / "run.html");
  replace(page, "<script>\n\"use strict\"", "<script>" + before + "</script>\n<script>\n\"use strict\"");
  replace(page, "</body>",
          "<pre id=results></pre><script>const result = text => {\n"
          "  document.getElementById('results').textContent += text + ';';\n};\n"
          "setTimeout(async () => {\n  dispatchEvent(new Event('beforeprint'));\n" +
              after + "\n}, 1000);</script></body>");
  support::write_file(folder / "shown.html", page);
  const std::string command =
      "timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--enable-logging=stderr"
      " --user-data-dir='" +
      folder / "browser" + "' --window-size=" + size +
      " --virtual-time-budget=4000"
      " --dump-dom 'file://" +
      folder / "shown.html" + "' >'" + folder / "dom" + "' 2>'" + folder / "log" + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  Shown result{support::read_file(folder / "dom"), ""};
  const std::string log = support::read_file(folder / "log");
  for (std::size_t begin = 0, end; begin < log.size(); begin = end + 1) {
    end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    if (line.find("CONSOLE") != std::string::npos) result.console += line + '\n';
  }
  const std::size_t results = result.document.find("<pre id=\"results\">");
  REQUIRE(results != std::string::npos);
  result.document.erase(0, results + 18);
  result.document.resize(result.document.find("</pre>"));
  return result;
}

// A report with a record of every kind.
void write_everything(const std::string& path) {
  manual_seed(1);
  Report report(path, ReportOptions().interval(3600).title("Everything & <more>").run("main"));
  for (int i = 0; i < 40; ++i) {
    report.add_scalar("loss/train", i == 20 ? std::nan("") : std::exp(-0.1 * i), i);
    report.run("second").add_scalar("loss/train", std::exp(-0.05 * i), i);
    report.add_scalar("long/" + std::string(100, 'n'), 1e-5 * (i - 3), i);
    if (i % 10 == 0) report.add_histogram("weights", randn({1000}) * (1 + i), i);
    if (i % 10 == 0) report.add_image("image", rand({3, 8, 16}), i);
  }
  report.add_histogram("empty", zeros({0}), 0);
  report.add_text("notes", "one\n</script><script>document.title = 'taken over'</script>", 0);
  report.add_confusion_table("validation", tensor({{8, 2}, {1, 9}}), {"cat", "dog"}, 39);
  report.add_confusion_table("many", eye(80) + 0.25, {}, 39);
  report.add_pr_curve("dogs", tensor({0, 1, 1, 0}), tensor({0.1f, 0.8f, 0.6f, 0.7f}), 39);
  report.add_hparams({{"lr", 0.1}, {"nesterov", true}, {"schedule", "cosine"}}, {{"accuracy", 0.85}},
                     "trial");
  report.add_summary("Net\n  Linear 10 parameters");
  nn::Linear net(2, 2);
  report.add_graph(net, ones({1, 2}));
}

}  // namespace

TEST_CASE("the page of a report draws every kind of record in Chromium") {
  if (!has_browser()) return;
  const Folder folder;
  write_everything(folder / "run.html");
  const Shown page = shown(folder, "1280,8000", "", R"(
    const count = (name, parent = document) => result(name + ' ' + parent.querySelectorAll(name).length);
    result(document.title);
    result([...document.querySelectorAll('section:not([hidden]) h2')].map(one => one.textContent).join());
    const chart = [...document.querySelectorAll('figure')].find(one => one.textContent.startsWith('loss/train'));
    for (const name of ['path.line', 'path.bad', 'text']) count(name, chart.querySelector('svg'));
    result(document.querySelectorAll('.bucket.selected').length > 30);
    result(document.querySelectorAll('.bucket').length > 120);
    const image = document.querySelector('figure img');
    // Chromium may not finish image.decode() by its virtual clock. A canvas decodes at once.
    const pixels = document.createElement('canvas').getContext('2d');
    pixels.drawImage(image, 0, 0);
    result(image.naturalWidth + ' x ' + image.naturalHeight + ', ' + image.alt + ', opacity ' + pixels.getImageData(15, 7, 1, 1).data[3]);
    result(document.querySelector('table.matrix').textContent);
    result([...document.querySelectorAll('.note')].map(one => one.textContent).find(text => text.includes('frequent')));
    result(document.querySelector('figure.text pre').textContent.length);
    result(document.querySelector('figure.summary pre').textContent.length);
    result(document.querySelector('figure.graph pre').textContent);
    result(document.getElementById('status').textContent.split(' ')[0]);
    result(document.getElementById('facts').textContent.includes('Processor'));
    result([...document.querySelectorAll('input, select, button, [tabindex]')].filter(one => !one.hidden && !one.labels?.length &&
      !one.ariaLabel && !one.textContent.trim()).map(one => one.outerHTML).join());)");
  CHECK(page.console == "");
  CHECK(page.document ==
        "Everything &amp; &lt;more&gt;;"
        "Curves,Confusion tables,Precision and "
        "recall,Histograms,Images,Texts,Hyper-parameters,Model,Graph,Environment;"
        "path.line 2;path.bad 1;text 11;true;true;16 x 8, image at step 30, 16 times 8 pixels, opacity 255;"
        "ClasscatdogRecallcat8280.0 %dog1990.0 %Precision88.9 %81.8 %;"
        "6.0 % of 1,680 are correct. The most frequent confusions:;59;26;"
        "input = Input() [1,2]\nLinear/weight = Parameter() [2,2]\nLinear/bias = Parameter() [2]\n"
        "Linear/Addmm = Addmm(Linear/bias, input, Linear/weight) [1,2]\noutput = Output(Linear/Addmm) [1,2];"
        "Finished,;true;;");
}

TEST_CASE("the page of a report fits a screen of 320 pixels") {
  if (!has_browser()) return;
  const Folder folder;
  write_everything(folder / "run.html");
  // Chromium's window is at least 500 pixels wide, so the page is in a frame.
  const Shown page = shown(folder, "800,900", "", R"(
    if (window.parent === window) {
      const frame = document.createElement('iframe');
      Object.assign(frame, { width: 320, height: 9000, style: 'position: fixed; inset: 0; border: 0', src: location.href });
      document.body.append(frame);
      await new Promise(done => window.addEventListener('message', event => { result(event.data); done(); }));
    } else window.parent.postMessage(innerWidth + ' ' + document.documentElement.scrollWidth, '*');)");
  CHECK(page.console == "");
  CHECK(page.document == "320 320;");
}

TEST_CASE("the charts of a report can be read and zoomed with the keyboard and the pointer") {
  if (!has_browser()) return;
  const Folder folder;
  {
    Report report(folder / "run.html");
    for (int i = 0; i < 5; ++i) report.add_scalar("loss", std::pow(10, -i), i);
  }
  const Shown page = shown(folder, "1280,900", "", R"(
    const chart = document.querySelector('.chart > svg'), slider = document.querySelector('.scalar input');
    slider.focus();
    result(document.activeElement === slider);
    const move = at => {
      slider.value = at;
      slider.dispatchEvent(new Event('input'));
      result(slider.getAttribute('aria-valuetext'));
    };
    const press = key => slider.dispatchEvent(new KeyboardEvent('keydown', { key }));
    [3, 2, 0, 4].forEach(move);
    const ticks = () => result([...document.querySelectorAll('.chart > svg > text')].map(one => one.textContent).join(' '));
    ticks();
    const input = label => [...document.querySelectorAll('label')].find(one => one.textContent.includes(label)).querySelector('input');
    input('Logarithmic').click();
    ticks();
    move(0);
    press('+');
    ticks();
    press('Escape');
    ticks();
    // A drag over the left half, from pixel to pixel, enlarges it.
    const { left, width } = document.querySelector('.chart').getBoundingClientRect();
    const drag = (type, at) => document.querySelector('.chart').dispatchEvent(new PointerEvent(type, { clientX: left + at * width, pointerType: 'mouse' }));
    drag('pointerdown', 0);
    drag('pointermove', 0.5);
    result(document.querySelectorAll('.selection').length);
    drag('pointerup', 0.5);
    drag('pointerleave', 0.5);
    ticks();
    document.querySelector('.chart').dispatchEvent(new MouseEvent('dblclick'));
    input('Logarithmic').click();
    const smoothing = input('Smoothing');
    smoothing.value = 0.5;
    smoothing.dispatchEvent(new Event('input', { bubbles: true }));
    result(document.querySelector('.legend tbody').textContent);
    const filter = input('Tags');
    filter.value = 'accuracy';
    filter.dispatchEvent(new Event('input', { bubbles: true }));
    result(document.querySelector('figure').hidden);)");
  CHECK(page.console == "");
  INFO(page.document);
  // The moving average of 1, 0.1, 0.01, 0.001, 0.0001 with weight 0.5 is 2.1121 / 31 at the end... of the
  // sums.
  CHECK(page.document ==
        "true;run: 0.001 at step 3;run: 0.01 at step 2;run: 1 at step 0;run: 0.0001 at step 4;"
        "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 0 0.5 1 1.5 2 2.5 3 3.5 4 step;"
        "0.0001 0.001 0.01 0.1 1 0 0.5 1 1.5 2 2.5 3 3.5 4 step;run: 1 at step 0;"
        "0.1 1 0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 step;"
        "0.0001 0.001 0.01 0.1 1 0 0.5 1 1.5 2 2.5 3 3.5 4 step;1;"
        "0.1 1 0 0.2 0.4 0.6 0.8 1 1.2 1.4 1.6 1.8 step;run0.0403140.00011;true;");
}

TEST_CASE("runs can be hidden and reports compared on the page") {
  if (!has_browser()) return;
  const Folder folder;
  {
    Report report(folder / "run.html");
    for (const char* run : {"a", "b"}) report.run(run).add_scalar("loss", 1, 1);
    report.run("b").add_text("only b", "text");
  }
  const Shown page = shown(folder, "1280,900", "", R"(
    const show = () => result([...document.querySelectorAll('figure:not([hidden]) span:first-child')].map(one => one.textContent).join() +
      ' ' + document.querySelector('.legend tbody').textContent);
    show();
    document.querySelectorAll('#runs input')[1].click();
    show();
    document.querySelectorAll('#runs input')[1].click();
    show();
    window.alert = result;
    const files = new DataTransfer(), input = document.getElementById('files');
    const texts = { 'other.html': document.documentElement.outerHTML, 'wrong.html': '<html></html>' };
    for (const name in texts) files.items.add(new File([], name));
    File.prototype.text = async function () { return texts[this.name]; };  // the clock does not wait for a disk
    input.files = files.files;
    input.dispatchEvent(new Event('change'));
    await new Promise(done => setTimeout(done, 100));
    show();)");
  CHECK(page.console == "");
  CHECK(page.document ==
        "loss,only b a1111b1111;loss a1111;loss,only b a1111b1111;"
        "wrong.html is not a report of this version of ebb.;"
        "loss,only b,only b a1111b1111other/a1111other/b1111;");
}

TEST_CASE("the open page of a running report shows newer records") {
  if (!has_browser()) return;
  const Folder folder;
  Report report(folder / "run.html", ReportOptions().interval(0));
  report.add_scalar("loss", 0.5, 1);
  report.add_scalar("accuracy", 0.75, 1);
  report.flush();
  // The page first shows earlier data, in which the second tag is missing.
  const Shown page = shown(folder, "1280,900", R"(
    if (location.hash === '') {
      const element = document.getElementById('data'), data = JSON.parse(element.textContent);
      delete data.series.scalar.accuracy;
      data.updated -= 1000;
      element.textContent = JSON.stringify(data);
    })",
                           R"(
    const tags = () => result([...document.querySelectorAll('figcaption span:first-child')].map(one => one.textContent).join());
    if (location.hash !== '') return;
    tags();
    setTimeout(tags, 2500);)");
  CHECK(page.console == "");
  CHECK(page.document == "loss;accuracy,loss;");
}
