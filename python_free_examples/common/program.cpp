// Program: the command line of the examples.
#include "common/program.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

namespace example {

namespace {

constexpr int kWrongUsage = 2, kInterrupted = 130;  // 128 + the number of SIGINT, as in shells
constexpr int kMostThreads = 1024;

constexpr const char* kFooter =
    "Exit codes: 0 success; 1 the run failed or missed its stated result; 2 wrong usage;\n"
    "130 stopped by Ctrl-C. A second Ctrl-C ends the program immediately.";

// Adds an option for a decimal number. The whole argument must be the number.
template <class T>
void add_number(CLI::App& app, const std::string& name, T& value, const std::string& help, T least,
                const std::string& expected, T most = std::numeric_limits<T>::max()) {
  const auto read = [&value, name, least, expected, most](const std::string& text) {
    T number = {};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || !(number >= least && number <= most))
      throw CLI::ValidationError(fmt::format("{} must be {}, not \"{}\"", name, expected, text));
    value = number;
  };
  CLI::Option* option = app.add_option_function<std::string>(name, read, help)->type_name("NUMBER");
  if (value != T()) option->default_str(fmt::format("{}", value));
}

ebb::Device read_device(const std::string& text) {
  try {
    return ebb::Device(text);
  } catch (const ebb::Error&) {
    throw CLI::ValidationError(fmt::format("--device must be cpu, cuda or cuda:N, not \"{}\"", text));
  }
}

// Throws if this machine does not have the device.
void check_device(ebb::Device device) {
  if (!device.is_cuda()) return;
  EBB_CHECK(ebb::cuda::is_available(), "--device ", device,
            ": there is no CUDA device here that ebb can use; leave the option out to run on the CPU, or run "
            "device_tour, which shows what is missing.");
  const auto last = static_cast<std::int64_t>(ebb::cuda::device_count()) - 1;
  EBB_CHECK(device.index() <= last, "--device ", device, ": the last CUDA device here is cuda:", last,
            "; choose an existing one.");
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  EBB_CHECK(!error && std::filesystem::is_directory(path), "--out ", path, ": cannot create this folder",
            error ? ": " + error.message() : "", "; name another.");
}

// The recorder of an example without a page.
struct Nothing final : ebb::watch::Recorder {
  Nothing() : Recorder(/*on=*/false) {}
  void write(ebb::watch::Record&&) override {}
};

using Facts = std::map<std::string, ebb::watch::Hyperparameter>;
Facts results;  // the values that at_least() and at_most() have judged

// Returns the results, and the options with the values that the user has given, or else with their defaults.
Facts facts_of(const CLI::App& app) {
  Facts values = results;
  for (const CLI::Option* option : app.get_options()) {
    const std::string value = option->count() ? option->as<std::string>() : option->get_default_str();
    if (!value.empty()) values.emplace(option->get_name(), value);
  }
  return values;
}

}  // namespace

ebb::watch::Recorder& Settings::report() const {
  static Nothing nothing;
  if (page) return *page;
  return nothing;
}

void Settings::draw(const std::string& name, const ebb::watch::Figure& figure) const {
  figure.write(path(name));
  fmt::print("figure: {}\n", path(name));
  report().add_figure(std::filesystem::path(name).stem().string(), figure);
}

struct Program::Parser {
  explicit Parser(const std::string& description) : app(description) {}
  CLI::App app;
};

Program::Program(const std::string& description, bool always_reports)
    : parser_(std::make_unique<Parser>(description)), reports_(always_reports) {
  CLI::App& app = parser_->app;
  app.footer(kFooter);
  app.add_option_function<std::string>(
         "--device", [this](const std::string& text) { settings_.device = read_device(text); },
         "cpu, cuda or cuda:N")
      ->default_str("cpu");
  add_number<std::uint64_t>(app, "--seed", settings_.seed, "of all that is drawn", 0,
                            "a whole number of at least 0");
  add_number(app, "--threads", settings_.threads, "CPU threads (default: all cores)", 1,
             fmt::format("a whole number from 1 to {}", kMostThreads), kMostThreads);
  app.add_option("--out", settings_.out, "folder for pictures, curves and models")->capture_default_str();
  app.add_flag("--short", settings_.brief, "the same steps with a much shorter training");
  app.add_flag("--report", reports_, "writes a page with curves and figures to the folder of --out");
}

Program::~Program() = default;

void Program::option(const std::string& name, std::int64_t& value, const std::string& help,
                     std::int64_t least) {
  add_number(parser_->app, name, value, help, least, fmt::format("a whole number of at least {}", least));
}

void Program::option(const std::string& name, double& value, const std::string& help, Least least) {
  if (least == Least::kZero)
    add_number(parser_->app, name, value, help, 0.0, "a number of at least 0");
  else
    add_number(parser_->app, name, value, help, std::numeric_limits<double>::min(), "a number above 0");
}

void Program::option(const std::string& name, std::string& value, const std::string& help) {
  parser_->app.add_option(name, value, help)->capture_default_str();
}

void Program::option(const std::string& name, bool& value, const std::string& help) {
  parser_->app.add_flag(name, value, help);
}

int Program::run(int argc, char** argv, const std::function<int(const Settings&)>& body) {
  const auto fail = [&](const std::exception& e, int code) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return code;
  };
  // Line buffering, so that each line of a pipe or file is written immediately.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ebb::watch::throw_on_interrupt();
  try {
    parser_->app.parse(argc, argv);
    check_device(settings_.device);
    if (settings_.threads) ebb::set_num_threads(settings_.threads);
    ebb::manual_seed(settings_.seed);
    make_folder(settings_.out);
    std::optional<ebb::watch::Report> page;  // an exception ends its scope, and the page then says so
    const std::string name = std::filesystem::path(argv[0]).filename().string(),
                      path = settings_.path(name + ".html");
    if (reports_) settings_.page = &page.emplace(path, ebb::watch::ReportOptions().title(name));
    const int code = body(settings_);
    if (!page) return code;
    page->add_hparams(facts_of(parser_->app), {}, name);
    page->close();
    fmt::print("report: {}\n", path);
    return code;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return parser_->app.exit(e);  // --help
    return fail(e, kWrongUsage);
  } catch (const WrongUsage& e) {
    return fail(e, kWrongUsage);
  } catch (const ebb::watch::Interrupted& e) {
    return fail(e, kInterrupted);
  } catch (const std::exception& e) {
    return fail(e, 1);
  }
}

namespace {

int judge(const std::string& what, double value, double stated, const char* bound, bool reached) {
  results.insert_or_assign(what, value);
  fmt::print("{}: {:.4g} (stated: {} {:.4g}, {})\n", what, value, bound, stated,
             reached ? "reached" : "NOT reached");
  return reached ? 0 : 1;
}

}  // namespace

int at_least(const std::string& what, double value, double stated) {
  return judge(what, value, stated, "at least", value >= stated);
}

int at_most(const std::string& what, double value, double stated) {
  return judge(what, value, stated, "at most", value <= stated);
}

}  // namespace example
