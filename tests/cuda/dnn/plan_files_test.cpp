// Plans as files: what is written is read again, and nothing else is.
#include "cuda/nvidia/dnn/plan_files.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "cuda/dnn/plans.h"
#include "support/catch.h"
#include "support/environment.h"
#include "support/files.h"

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;
using support::Environment, support::read_file, support::write_file;
namespace fs = std::filesystem;

namespace {

// The folder is one that the plans must make.
struct Folder {
  support::Folder above;
  fs::path path = above.path() / "cudnn";
  std::vector<fs::path> files() const { return support::files_in(path); }
};

Problem problem(std::int64_t rows) {
  const NdArray x = array({rows, 4, 5, 5}, kFloat);
  return Problem(Operation::batch_norm, x, x);
}
}  // namespace

TEST_CASE("a plan that was written is read again, by its problem and by whom it is good for") {
  const Folder folder;
  PlanFiles files(folder.path, "cuDNN 1 on a device");
  CHECK_FALSE(files.load(problem(3)));
  const std::string plan("{\"plan\"\0: 1}\n\n", 15);
  files.save(problem(3), plan);
  files.save(problem(4), "another");
  CHECK(files.load(problem(3)) == plan);
  CHECK(files.load(problem(4)) == "another");
  CHECK_FALSE(files.load(problem(5)));
  CHECK(PlanFiles(folder.path, "cuDNN 1 on a device").load(problem(3)) == plan);
  CHECK_FALSE(PlanFiles(folder.path, "cuDNN 2 on a device").load(problem(3)));
  Problem elsewhere = problem(3);  // devices are numbered anew by every program
  elsewhere.device = 1;
  CHECK(files.load(elsewhere) == plan);
  files.save(problem(3), "newer");
  CHECK(files.load(problem(3)) == "newer");
  CHECK(folder.files().size() == 2);
  files.remove(problem(3));
  CHECK_FALSE(files.load(problem(3)));
  CHECK(files.load(problem(4)) == "another");
}

TEST_CASE("a file that is damaged anywhere counts as none") {
  const Folder folder;
  PlanFiles files(folder.path, "whom");
  files.save(problem(3), "a plan of some length");
  REQUIRE(folder.files().size() == 1);
  const fs::path path = folder.files()[0];
  const std::string whole = read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_file(path, bad);
    REQUIRE_FALSE(files.load(problem(3)));
    write_file(path, whole.substr(0, i));
    REQUIRE_FALSE(files.load(problem(3)));
  }
  write_file(path, whole + 'x');
  CHECK_FALSE(files.load(problem(3)));
  // Another problem's plan under this one's name.
  files.save(problem(4), "another");
  std::vector<fs::path> both = folder.files();
  const fs::path other = both[0] == path ? both[1] : both[0];
  write_file(path, read_file(other));
  CHECK_FALSE(files.load(problem(3)));
  write_file(path, whole);
  CHECK(files.load(problem(3)) == "a plan of some length");
}

TEST_CASE("where nothing can be kept nothing is, and nothing fails") {
  PlanFiles nowhere({}, "whom");
  nowhere.save(problem(3), "plan");
  CHECK_FALSE(nowhere.load(problem(3)));
  const Folder folder;
  write_file(folder.path, "a file where the folder should be");
  PlanFiles blocked(folder.path, "whom");
  CHECK_NOTHROW(blocked.save(problem(3), "plan"));
  CHECK_FALSE(blocked.load(problem(3)));
  CHECK_NOTHROW(blocked.remove(problem(3)));
  fs::remove(folder.path);
  PlanFiles few(folder.path, "whom", 2);
  for (std::int64_t rows = 1; rows <= 4; ++rows) few.save(problem(rows), "plan");
  CHECK(folder.files().size() == 2);
  few.save(problem(2), "newer");  // takes no more room
  CHECK(few.load(problem(2)) == "newer");
  PlanFiles(folder.path, "whom").save(problem(5), "");  // an engine that writes nothing down
  CHECK(folder.files().size() == 2);
}

TEST_CASE("readers never see half a plan") {
  const Folder folder;
  PlanFiles files(folder.path, "whom");
  const std::string plans[] = {std::string(100'000, 'a'), std::string(50'000, 'b')};
  files.save(problem(3), plans[0]);
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&, w] {
      PlanFiles own(folder.path, "whom");
      for (int i = 0; i < 50; ++i) own.save(problem(3), plans[w]);
    });
  std::size_t strange = 0;
  for (int i = 0; i < 200; ++i) {
    const auto plan = files.load(problem(3));
    strange += !plan || std::ranges::find(plans, *plan) == std::end(plans);
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(strange == 0);
  CHECK(folder.files().size() == 1);
}

TEST_CASE("the folder of plans is the user's to choose or to forbid") {
  const Environment no_cache("EBB_CACHE_DIR"), no_data("XDG_CACHE_HOME");
  {
    const Environment own("EBB_CACHE_DIR", "/somewhere");
    CHECK(cache_folder() == "/somewhere");
  }
  {
    const Environment none("EBB_CACHE_DIR", "");
    CHECK(cache_folder().empty());
  }
  const Environment home("HOME", "/me");
  {
    const Environment data("XDG_CACHE_HOME", "/caches");
    CHECK(cache_folder() == "/caches/ebb");
  }
  {
    const Environment relative("XDG_CACHE_HOME", "caches");
    CHECK(cache_folder() == "/me/.cache/ebb");
  }
  CHECK(cache_folder() == "/me/.cache/ebb");
}
