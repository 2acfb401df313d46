// The program ebb: `ebb <verb>` starts the program ebb-<verb>. A verb is a subcommand.
#include <ebb/core/environment.h>
#include <ebb/core/version.h>

#include "core/messages.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::string kProgram = "ebb-";

/// Returns the folders in which programs of verbs are searched. The first is the folder of this program (in a
/// build), the second the folder of an installed package. The folders of PATH follow. Empty entries of PATH,
/// which mean the current folder, are skipped.
std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error) found = {own, (own / EBB_LIBEXEC).lexically_normal()};
  const char* const path = ebb::detail::environment("PATH");
  std::istringstream entries(path ? path : "");
  for (std::string entry; std::getline(entries, entry, ':');)
    if (!entry.empty()) found.emplace_back(entry);
  return found;
}

bool is_verb(const std::string& name) {
  return !name.empty() && name[0] != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == name.npos;
}

/// Returns the program of each verb. If several folders contain a program of a verb, the first one in the
/// order of folders() is used.
std::map<std::string, fs::path> programs() {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (!name.starts_with(kProgram) || !is_verb(name.substr(kProgram.size()))) continue;
      std::error_code unreadable;
      if (at->is_regular_file(unreadable) && access(at->path().c_str(), X_OK) == 0)
        found.try_emplace(name.substr(kProgram.size()), at->path());
    }
  }
  return found;
}

/// Returns the description of a program from the file next to it. The program itself is not run to get it,
/// because PATH may contain any program with such a name.
std::string summary_of(const fs::path& program) {
  std::ifstream file(program.string() + ".summary");
  std::string line;
  std::getline(file, line);
  return line.empty() ? program.string() : line;
}

int list(const std::map<std::string, fs::path>& verbs) {
  std::size_t width = 0;
  for (const auto& [verb, program] : verbs) width = std::max(width, verb.size());
  std::printf("usage: ebb <verb> [<argument>...]\n\n");
  for (const auto& [verb, program] : verbs)
    std::printf("  %-*s  %s\n", static_cast<int>(width), verb.c_str(), summary_of(program).c_str());
  if (verbs.empty()) std::printf("There are no verbs: no program called ebb-<verb> was found.\n");
  std::printf("\n\"ebb help <verb>\" tells more of a verb, \"ebb --version\" the version.\n");
  return std::fflush(stdout) == 0 ? 0 : 1;
}

/// Replaces this process by the program of the verb (exec), so that its exit status and signals are passed
/// on.
int start(const std::map<std::string, fs::path>& verbs, const std::string& verb,
          const std::vector<std::string>& arguments) {
  const auto found = verbs.find(verb);
  if (found == verbs.end()) {
    std::vector<std::string> names = {"help"};
    for (const auto& each : verbs) names.push_back(each.first);
    std::fprintf(stderr, "ebb: there is no verb \"%s\"%s. \"ebb help\" lists the verbs.\n", verb.c_str(),
                 ebb::detail::near_names(verb, names).c_str());
    return 2;
  }
  const std::string& program = found->second.native();
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  std::fprintf(stderr, "ebb: cannot start \"%s\": %s.\n", program.c_str(), std::strerror(errno));
  return 126;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  const std::string verb = arguments.empty() ? "help" : arguments[0];
  if (verb == "--version") {
    std::puts("ebb " EBB_VERSION);
    return 0;
  }
  if (verb != "help" && verb != "--help" && verb != "-h")
    return start(programs(), verb, {arguments.begin() + 1, arguments.end()});
  if (arguments.size() < 2) return list(programs());
  return start(programs(), arguments[1], {"--help"});
}
