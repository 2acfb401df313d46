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

constexpr int kVersion = 2;
constexpr std::string_view kEnd = "</script>";

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string gibibytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

// Returns pairs of names and texts: hardware and software. They contain no names of users or hosts, and no
// arguments of the program, because reports are passed on.
json facts_of_machine() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  json facts = json::array(
      {{"Program", program_invocation_short_name},
       {"ebb", fmt::format("{}, kernels for {}", version(), cpu_isa())},
       {"Processor", processor()},
       {"Threads", fmt::format("{} of {} processors", get_num_threads(), sysconf(_SC_NPROCESSORS_ONLN))},
       {"Memory", fmt::format("{}, of which the program used {}",
                              gibibytes(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * getpagesize()),
                              gibibytes(1024.0 * static_cast<double>(usage.ru_maxrss)))}});
  for (std::size_t i = 0; i < cuda::device_count(); ++i) {
    const cuda::DeviceProperties gpu = cuda::get_device_properties(static_cast<std::int64_t>(i));
    facts.push_back({fmt::format("GPU {}", i),
                     fmt::format("{}, {}", gpu.name, gibibytes(static_cast<double>(gpu.total_memory)))});
  }
  return facts;
}

}  // namespace

std::string Report::State::page(const char* state) {
  data.update({{"version", kVersion},
               {"title", options.title()},
               {"interval", options.interval()},
               {"state", state},
               {"updated", milliseconds(unix_time())},
               {"facts", facts_of_machine()}});
  std::string html(kHead);
  for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace))
    c == '<' ? html += "\\u003c" : html += c;  // so that no text ends the element
  return html.append(kTail);
}

void Report::State::load(std::string_view page, std::int64_t purge_step) {
  const std::string_view begin = kHead.substr(kHead.rfind("<script"));
  const std::size_t at = page.find(begin), end = page.find(kEnd, at);
  EBB_CHECK(at != page.npos && end != page.npos, "it is not a page that ebb::watch::Report wrote");
  try {
    data = json::parse(page.substr(at + begin.size(), end - at - begin.size()));
    EBB_CHECK(data.at("version") == kVersion, "another version of ebb wrote it");
    for (json& tags : data.at("series"))
      for (json& runs_of_tag : tags) {
        for (json& series : runs_of_tag) purge(series, purge_step);
        auto& named = runs_of_tag.get_ref<json::object_t&>();
        std::erase_if(named, [](const auto& run) { return run.second["items"].empty(); });
      }
  } catch (const json::exception& e) {
    ebb::detail::fail("its data is damaged: ", e.what());
  }
}

}  // namespace ebb::watch
