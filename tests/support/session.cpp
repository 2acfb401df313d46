// The implementation of Catch2: version 2 is compiled here, version 3 is linked as a library.
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include <cstring>
#include <iostream>
#include <vector>

namespace support {
namespace {

bool only_lists(const Catch::ConfigData& asked) {
#if EBB_CATCH_3
  return asked.listTests || asked.listTags || asked.listReporters || asked.listListeners;
#else
  return asked.listTests || asked.listTestNamesOnly || asked.listTags || asked.listReporters;
#endif
}

// Version 3 has another option that lists names.
std::vector<const char*> arguments_of(int argc, char** argv) {
  std::vector<const char*> arguments;
  for (int i = 0; i < argc; ++i) {
    if (EBB_CATCH_3 && std::strcmp(argv[i], "--list-test-names-only") == 0)
      arguments.insert(arguments.end(), {"--list-tests", "--verbosity", "quiet"});
    else
      arguments.push_back(argv[i]);
  }
  return arguments;
}

}  // namespace

int run_tests(int argc, char** argv, const std::function<std::string()>& obstacle) {
  const std::vector<const char*> arguments = arguments_of(argc, argv);
  Catch::Session session;
  if (const int failure = session.applyCommandLine(static_cast<int>(arguments.size()), arguments.data()))
    return failure;
  if (obstacle && !only_lists(session.configData())) {
    const std::string reason = obstacle();
    if (!reason.empty()) {
      std::cout << "skipped: " << reason << '\n';
      return 77;
    }
  }
  return session.run();
}

}  // namespace support
