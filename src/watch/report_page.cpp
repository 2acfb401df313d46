// Report::State: writes the records as a page, and reads them from a page.
#include <ebb/core/error.h>
#include <ebb/core/isa.h>
#include <ebb/core/parallel.h>
#include <ebb/core/version.h>
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/device.h>

#include "watch/report_state.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace ebb::watch {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">", kEnd = "</script>";

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

template <class Number>
std::string gibibytes(Number bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

// Returns pairs of names and texts: hardware and software. They contain no names of users or hosts, and no
// arguments of the program, because reports are passed on.
json facts_of_machine() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::string memory = gibibytes(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * getpagesize());
  json facts = json::array(
      {{"Program", program_invocation_short_name},
       {"ebb", fmt::format("{}, kernels for {}", version(), cpu_isa())},
       {"Processor", processor()},
       {"Threads", fmt::format("{} of {} processors", get_num_threads(), sysconf(_SC_NPROCESSORS_ONLN))},
       {"Memory", memory + ", of which the program used " + gibibytes(1024.0 * usage.ru_maxrss)}});
  for (std::size_t i = 0; i < cuda::device_count(); ++i) {
    const cuda::DeviceProperties gpu = cuda::get_device_properties(static_cast<std::int64_t>(i));
    facts.push_back({fmt::format("GPU {}", i), gpu.name + ", " + gibibytes(gpu.total_memory)});
  }
  return facts;
}

}  // namespace

std::string Report::State::page(const char* state) {
  data["version"] = kVersion;
  data["title"] = options.title();
  data["interval"] = options.interval();
  data["state"] = state;
  data["updated"] = milliseconds_now();
  data["facts"] = facts_of_machine();
  data["scalars"] = scalars;
  std::string html(kHead);
  html += kBegin;
  for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace))
    c == '<' ? html += "\\u003c" : html += c;  // so that no text ends the element
  return html.append(kEnd).append(kTail);
}

void Report::State::load(std::string_view page, std::int64_t purge_step) {
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd, begin);
  EBB_CHECK(begin != page.npos && end != page.npos, "it is not a page that ebb::watch::Report wrote");
  try {
    data = json::parse(page.substr(begin + kBegin.size(), end - begin - kBegin.size()));
    EBB_CHECK(data.at("version") == kVersion, "another version of ebb wrote it");
    data.at("scalars").get_to(scalars);
    for (auto& [tag, curves] : scalars) {
      for (auto& [run, curve] : curves)
        std::erase_if(curve.points, [&](const Curve::Point& point) { return point.last_step >= purge_step; });
      std::erase_if(curves, [](const auto& entry) { return entry.second.points.empty(); });
    }
    for (json& tags : data.at("series"))
      for (json& tag : tags)
        for (json& series : tag) {
          auto& items = series.at("items").get_ref<json::array_t&>();
          std::erase_if(items, [&](const json& item) { return item.at("step") >= purge_step; });
          series["count"] = items.empty() ? 0 : items.back().at("index").get<std::int64_t>() + 1;
          EBB_CHECK(series.at("stride").get<std::int64_t>() > 0, "a series has no stride");
        }
  } catch (const json::exception& e) {
    ebb::detail::fail("its data is damaged: ", e.what());
  }
}

}  // namespace ebb::watch
