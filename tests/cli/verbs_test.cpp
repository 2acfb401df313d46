// The program ebb: finds the program of a verb and executes it.
#include <ebb/core/version.h>

#include "cli/program.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"

#include <csignal>
#include <filesystem>

namespace fs = std::filesystem;

namespace {

// Writes a shell script, with a summary line if `summary` is not empty.
void write_program(const fs::path& path, const std::string& body, const std::string& summary = {}) {
  support::write_file(path, "#!/bin/sh\n" + body + "\n");
  fs::permissions(path, fs::perms::owner_all);
  if (!summary.empty()) support::write_file(path.string() + ".summary", summary + "\n");
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("ebb without arguments lists its verbs with their summaries") {
  const Run alone = ebb_run({});
  CHECK(alone.status == 0);
  CHECK(contains(alone.out, "usage: ebb <verb>"));
  CHECK(contains(alone.out, "  inspect  "));
  CHECK(contains(alone.out, "lists the tensors of a file of weights\n"));
  for (const char* const word : {"help", "--help", "-h"}) CHECK(ebb_run({word}).out == alone.out);
}

TEST_CASE("ebb prints its version and the help of a verb") {
  CHECK(ebb_run({"--version"}).out == "ebb " EBB_VERSION "\n");
  const Run help = ebb_run({"help", "inspect"});
  CHECK(help.status == 0);
  CHECK(help.out.starts_with("usage: ebb inspect "));
  CHECK(ebb_run({"inspect", "--help"}).out == help.out);
}

TEST_CASE("an unknown verb exits with status 2 and suggests similar verbs") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"inspct"}, std::vector<std::string>{"help", "inspct"}}) {
    const Run unknown = ebb_run(words);
    CHECK(unknown.status == 2);
    CHECK(unknown.out.empty());
    CHECK(unknown.err ==
          "ebb: there is no verb \"inspct\" (nearest: \"inspect\"). \"ebb help\" lists the verbs.\n");
  }
  CHECK(ebb_run({"../ebb"}).status == 2);
  CHECK(ebb_run({"--verbose"}).status == 2);
  CHECK(ebb_run({""}).status == 2);
}

TEST_CASE("a verb program in PATH gets the arguments and sets the exit status of ebb") {
  const support::Folder folder;
  write_program(folder / "ebb-words", "for word; do echo \"<$word>\"; done; exit 7", "prints its words");
  write_program(folder / "ebb-killed", "kill -TERM $$");
  write_program(folder / "ebb-Upper", "exit 0");
  support::write_file(folder / "ebb-data", "no program\n");
  const support::Environment path("PATH", ":/usr/bin:" + folder.path().string() + ":/no/such/folder:/bin");

  const Run words = ebb_run({"words", "a b", "", "--json", "*"});
  CHECK(words.status == 7);
  CHECK(words.out == "<a b>\n<>\n<--json>\n<*>\n");
  CHECK(ebb_run({"killed"}).status == -SIGTERM);
  CHECK(ebb_run({"data"}).status == 2);
  CHECK(ebb_run({"Upper"}).status == 2);

  const std::string list = ebb_run({}).out;
  CHECK(contains(list, "words"));
  CHECK(contains(list, "prints its words\n"));
  CHECK(contains(list, folder / "ebb-killed"));  // a program without a summary
  CHECK_FALSE(contains(list, "data"));
}

TEST_CASE("a verb program that cannot be started is an error") {
  const support::Folder folder;
  support::write_file(folder / "ebb-broken", "#!/no/such/shell\n");
  fs::permissions(folder / "ebb-broken", fs::perms::owner_all);
  const support::Environment path("PATH", folder.path().string());
  const Run broken = ebb_run({"broken"});
  CHECK(broken.status == 126);
  CHECK(broken.err.starts_with("ebb: cannot start \"" + folder / "ebb-broken"));
}

TEST_CASE("an installed ebb finds verbs in its own prefix before those of PATH") {
  const support::Folder folder;
  const fs::path prefix = folder.path() / "prefix";
  fs::create_directories(prefix / "bin");
  fs::copy_file(ebb_program(), prefix / "bin/ebb");
  write_program(prefix / "libexec/ebb/ebb-toy", "echo own", "is a toy");
  write_program(folder / "ebb-toy", "echo other", "is another toy");
  const support::Environment path("PATH", folder.path().string());
  const std::string program = (prefix / "bin/ebb").string();
  CHECK(run(program, {"toy"}).out == "own\n");
  CHECK(contains(run(program, {}).out, "  toy  is a toy\n"));
  fs::remove(prefix / "libexec/ebb/ebb-toy");
  CHECK(run(program, {"toy"}).out == "other\n");
  fs::remove(folder / "ebb-toy");
  CHECK(contains(run(program, {}).out, "There are no verbs"));
}
