// Limits of control groups, read from file trees as Linux provides them.
#include "core/system.h"
#include "support/catch.h"
#include "support/files.h"

using namespace ebb::detail;

namespace {

const char* const kMount2 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const kMount1 =
    "22 27 0:21 / /proc rw - proc proc rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

}  // namespace

TEST_CASE("cgroup v2: the CPU limit is the smallest quota of the group and its ancestors, rounded up") {
  const FakeRoot root;
  CHECK(!cgroup_cpus(root.path()));
  root.write("/proc/self/mountinfo", kMount2);
  root.write("/proc/self/cgroup", "0::/jobs/one\n");
  CHECK(!cgroup_cpus(root.path()));
  root.write("/sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n");
  CHECK(!cgroup_cpus(root.path()));
  root.write("/sys/fs/cgroup/jobs/one/cpu.max", "550000 100000\n");
  CHECK(cgroup_cpus(root.path()) == 6);
  root.write("/sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
  CHECK(cgroup_cpus(root.path()) == 2);
  root.write("/sys/fs/cgroup/jobs/one/cpu.max", "5000 100000\n");
  CHECK(cgroup_cpus(root.path()) == 1);
}

TEST_CASE("cgroup v1: each controller has a separate hierarchy") {
  const FakeRoot root;
  root.write("/proc/self/mountinfo", kMount1);
  root.write("/proc/self/cgroup", "9:memory:/m/x\n3:cpu,cpuacct:/a/b\n1:name=systemd:/\n0::/\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
  CHECK(!cgroup_cpus(root.path()));
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n");
  root.write("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n");
  CHECK(cgroup_cpus(root.path()) == 3);

  const std::vector<CgroupFolder> folders = cgroup_folders("memory", root.path());
  REQUIRE(folders.size() == 4);  // and the root of the v2 hierarchy, which sets no limit here
  CHECK(folders[0].path == root.path() + "/sys/fs/cgroup/memory/m/x");
  CHECK(folders[1].path == root.path() + "/sys/fs/cgroup/memory/m");
  CHECK(folders[2].path == root.path() + "/sys/fs/cgroup/memory");
  CHECK(folders[2].version == 1);
  CHECK(folders[3].version == 2);
}

TEST_CASE("cgroup: a group outside the mounted subtree has the limits of the mount point") {
  const FakeRoot root;
  root.write("/proc/self/mountinfo", "32 31 0:29 /box/12 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "100000\n");
  root.write("/sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
  for (const char* path : {"/box/12", "/", "/box/123", "/../other"}) {
    root.write("/proc/self/cgroup", std::string("3:cpu:") + path + "\n");
    CHECK(cgroup_cpus(root.path()) == 2);
  }
  root.write("/proc/self/cgroup", "3:cpu:/box/12/inner\n");
  CHECK(cgroup_cpus(root.path()) == 1);
}

TEST_CASE("cgroup: malformed files set no limit") {
  const FakeRoot root;
  for (const char* text : {"", "\n", "0::\n", "::::\n", "0::/\n", "3:cpu:a\n"})
    for (const char* mounts : {"", " - ", "- cgroup2\n", "1 2 3 / /sys - cgroup2\n", kMount1, kMount2}) {
      root.write("/proc/self/cgroup", text);
      root.write("/proc/self/mountinfo", mounts);
      CHECK(!cgroup_cpus(root.path()));
    }
  root.write("/proc/self/mountinfo", kMount2);
  root.write("/proc/self/cgroup", "0::/\n");
  for (const char* text : {"", "nonsense", "100000", "0 0", "-5 100000", "100000 -1"}) {
    root.write("/sys/fs/cgroup/cpu.max", text);
    CHECK(!cgroup_cpus(root.path()));
  }
  root.write("/sys/fs/cgroup/cpu.max", "9223372036854775807 2");
  CHECK(cgroup_cpus(root.path()) == 1 << 20);
}

TEST_CASE("cgroup v1 and v2: the memory limit is the smallest one of the group and its ancestors") {
  const FakeRoot root;
  root.write("/proc/self/mountinfo", kMount2);
  root.write("/proc/self/cgroup", "0::/jobs/one\n");
  CHECK(!cgroup_memory(root.path()));
  root.write("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
  CHECK(!cgroup_memory(root.path()));
  root.write("/sys/fs/cgroup/jobs/one/memory.max", "3000000000\n");
  root.write("/sys/fs/cgroup/jobs/memory.max", "2000000000\n");
  CHECK(cgroup_memory(root.path()) == 2000000000);

  const FakeRoot old;
  old.write("/proc/self/mountinfo", kMount1);
  old.write("/proc/self/cgroup", "7:memory:/jobs\n3:cpu,cpuacct:/\n0::/\n");
  old.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  old.write("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "500000000\n");
  CHECK(cgroup_memory(old.path()) == 500000000);
}
