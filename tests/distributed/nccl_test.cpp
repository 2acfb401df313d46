// The backend nccl: a stand-in of NCCL on the emulated device, and the rendezvous.
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/device.h>

#include "ranks.h"
#include "slurm.h"
#include "support/catch.h"
#include "support/scopes.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

using namespace ebb::distributed;
using ebb::Tensor;
using ranks::error_of;
using std::chrono::milliseconds;
using support::Contains;

namespace {

std::string program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// The stand-in and its devices.
std::string stand_in() {
  const std::string folder = std::filesystem::path(program()).parent_path().string();
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  return "EBB_EMU_DEVICES=4 EBB_EMU_OPEN_MEMORY=1 EBB_PLUGIN_PATH=" + folder + " LD_LIBRARY_PATH=" + folder +
         "/nccl_stand_in:" + (before ? before : "") + " timeout 120 ";
}

ranks::Outcome run(int count, const std::string& tag, const std::string& options = "") {
  return ranks::shell(stand_in() + EBB_RUN " -n " + std::to_string(count) + " --backend nccl " + options +
                      " " + program() + " '" + tag + "'");
}

bool can_run_nccl() {
  static const bool works = run(1, "[.joins_nccl]").status == 0;
  if (!works && EBB_TEST_NCCL && std::getenv("EBB_REQUIRE_TOOLS"))
    FAIL("a process does not join the world of NCCL");
  if (!works) WARN("skipped: needs libebb_nccl.so, a device (preset emu) and the stand-in of NCCL");
  return works;
}

void join(milliseconds limit = milliseconds(30000)) {
  if (!is_initialized()) init(InitOptions("nccl").timeout(limit));
}

const ebb::TensorOptions kDevice = ebb::TensorOptions(ebb::Device::CUDA);

}  // namespace

TEST_CASE("a process joins the world of NCCL", "[.joins_nccl]") {
  join();
  Tensor x = ebb::ones({2}, kDevice);
  all_reduce(x);
  CHECK(x.sum().item<double>() == 2 * world_size());
}

TEST_CASE("collectives of NCCL give the values of their definitions", "[nccl]") {
  if (!can_run_nccl()) return;
  for (const int count : {1, 2, 4}) {
    const ranks::Outcome outcome = run(count, "[.values_nccl]");
    INFO(outcome.output);
    CHECK(outcome.status == 0);
  }
}

TEST_CASE("each rank uses its device for tensors of the device and of the CPU", "[.values_nccl]") {
  join();
  CHECK(ebb::cuda::current_device() == local_rank());
  CHECK(ProcessGroup().backend() == "nccl");
  const int size = world_size();
  for (const ebb::TensorOptions& place : {kDevice, ebb::TensorOptions()}) {
    for (const ebb::DType dtype : {ebb::kByte, ebb::kChar, ebb::kInt, ebb::kLong, ebb::kHalf, ebb::kFloat,
                                   ebb::kDouble, ebb::kBFloat16}) {
      Tensor x = ebb::full({2, 3}, rank() + 1, place.dtype(dtype));
      all_reduce(x);
      CHECK(x.to(ebb::kDouble).sum().item<double>() == 3 * size * (size + 1));
      Tensor y = ebb::full({2}, rank() + 1, place.dtype(dtype));
      all_reduce(y, ReduceOp::MAX);
      CHECK(y.to(ebb::kDouble).max().item<double>() == size);
    }
    Tensor yes = ebb::full({2}, rank() == 0, place.dtype(ebb::kBool));
    all_reduce(yes, ReduceOp::PRODUCT);
    CHECK(yes.all().item<bool>() == (size == 1));
    Tensor mean = ebb::full({2}, rank() + 1., place);
    all_reduce(mean, ReduceOp::AVG);
    CHECK(mean.sum().item<double>() == size + 1);
    Tensor root = ebb::full({2}, rank() + 1., place);
    reduce(root, size - 1);
    CHECK(root.sum().item<double>() == (rank() == size - 1 ? size * (size + 1) : 2 * (rank() + 1)));
    Tensor copy = ebb::full({3, 2}, rank() + 1., place).t();
    broadcast(copy, size - 1);
    CHECK(copy.sum().item<double>() == 6 * size);

    std::vector<Tensor> uneven, parts, received;
    for (int r = 0; r < size; ++r) {
      uneven.push_back(ebb::zeros({r + 1}, place));
      parts.push_back(ebb::full({r + 1}, rank() + 1., place));
      received.push_back(ebb::zeros({rank() + 1}, place));
    }
    all_gather(uneven, ebb::full({rank() + 1}, rank() + 1., place));
    for (int r = 0; r < size; ++r)
      CHECK(uneven[static_cast<std::size_t>(r)].sum().item<double>() == (r + 1) * (r + 1));
    Tensor all = ebb::zeros({size}, place), part = ebb::zeros({rank() + 1}, place),
           one = ebb::zeros({1}, place);
    all_gather_into_tensor(all, ebb::full({1}, rank() * 1., place));
    CHECK(ebb::equal(all, ebb::arange(size, place.dtype(ebb::kFloat))));
    reduce_scatter(part, parts);
    CHECK(part.sum().item<double>() == (rank() + 1) * size * (size + 1) / 2.);
    reduce_scatter_tensor(one, ebb::arange(size, place.dtype(ebb::kFloat)));
    CHECK(one.item<double>() == rank() * size);
    all_to_all(received, parts);
    for (int r = 0; r < size; ++r)
      CHECK(received[static_cast<std::size_t>(r)].sum().item<double>() == (r + 1) * (rank() + 1));
    const std::vector<Tensor> none;
    scatter(part, rank() == 0 ? parts : none, 0);
    CHECK(part.sum().item<double>() == rank() + 1);
    gather(part, rank() == 0 ? uneven : none, 0);
    CHECK(uneven[0].sum().item<double>() == 1);
    if (size > 1 && rank() < 2) {
      if (rank() == 0) send(ebb::full({4}, 7., place), 1);
      if (rank() == 1) {
        Tensor message = ebb::zeros({4}, place);
        CHECK(recv(message, 0) == 0);
        CHECK(message.sum().item<double>() == 28);
      }
    }
  }
  barrier();
  std::string text = "from " + std::to_string(rank());
  broadcast_object(text, size - 1);
  CHECK(text == "from " + std::to_string(size - 1));
  if (size == 4) {
    const ProcessGroup even = new_group({0, 2}), odd = new_group({3, 1});
    Tensor x = ebb::full({1}, rank(), kDevice);
    all_reduce(x, ReduceOp::SUM, rank() % 2 == 0 ? even : odd);
    CHECK(x.item<double>() == (rank() % 2 == 0 ? 2 : 4));
  }
  // The second call begins while NCCL runs the first one.
  Tensor first = ebb::ones({2}, kDevice), second = ebb::ones({3}, kDevice);
  Work one = all_reduce(first, ReduceOp::SUM, {}, /*async_op=*/true);
  Work two = all_reduce(second, ReduceOp::SUM, {}, /*async_op=*/true);
  two.wait();
  one.wait();
  CHECK(first.sum().item<double>() + second.sum().item<double>() == 5 * size);
  Tensor leaf = ebb::ones({2}, kDevice.requires_grad(true));
  functional::all_reduce(leaf).sum().backward();
  CHECK(leaf.grad().sum().item<double>() == 2 * size);
}

TEST_CASE("NCCL refuses what it lacks and names a way out", "[.values_nccl]") {
  join();
  if (world_size() == 1) return;
  const ProcessGroup shorts = new_group({0, 1}), tags = new_group({0, 1}), any = new_group({0, 1});
  if (rank() > 1) return;
  Tensor x = ebb::ones({2}, kDevice.dtype(ebb::kShort)), y = ebb::ones({2}, kDevice);
  CHECK_THAT(error_of([&] { all_reduce(x, ReduceOp::SUM, shorts); }), Contains("Convert them"));
  CHECK_THAT(error_of([&] { rank() == 0 ? send(y, 1, tags, 3) : static_cast<void>(recv(y, 0, tags, 3)); }),
             Contains("no tags"));
  if (rank() == 1) CHECK_THAT(error_of([&] { recv(y, kAnySource, any); }), Contains("Name the rank"));
}

TEST_CASE("a rank that leaves during a collective of NCCL is an error on the others", "[nccl]") {
  if (!can_run_nccl()) return;
  const ranks::Outcome outcome = run(2, "[.left_nccl]");
  INFO(outcome.output);
  CHECK_THAT(outcome.output, Contains("[0] All tests passed"));
}
TEST_CASE("rank 1 of NCCL does not call the collective", "[.left_nccl]") {
  join(milliseconds(500));
  Tensor x = ebb::ones({2}, kDevice);
  all_reduce(x);
  if (rank() == 1) usleep(3'000'000);
  const auto begin = std::chrono::steady_clock::now();
  if (rank() == 0) {
    CHECK_THAT(error_of([&] { all_reduce(x); }), Contains("rank 0 of 2, collective 2"));
    CHECK(std::chrono::steady_clock::now() - begin < milliseconds(30000));
    CHECK_THAT(error_of([&] { all_reduce(x); }), Contains("cannot be used any more"));
  }
}

TEST_CASE("the rendezvous admits only who shows the token", "[nccl]") {
  if (!can_run_nccl()) return;
  const auto two = [&](const std::string& other) {
    return ranks::shell(
        "export MASTER_ADDR=127.0.0.1 MASTER_PORT=29617 WORLD_SIZE=2 EBB_RENDEZVOUS_TOKEN=right; "
        "(RANK=1 LOCAL_RANK=1 " +
        other + " " + stand_in() + program() +
        " '[.refused]' 2>&1 | sed 's/^/other: /') & sleep 0.3; RANK=0 LOCAL_RANK=0 "
        "EBB_TEST_LIMIT=3000 " +
        stand_in() + program() + " '[.refused]'; wait");
  };
  const ranks::Outcome wrong = two("EBB_RENDEZVOUS_TOKEN=wrong");
  INFO(wrong.output);
  CHECK_THAT(wrong.output, Contains("refuses rank 1") && Contains("1 of 2 ranks have not"));
  const ranks::Outcome right = two("");
  INFO(right.output);
  CHECK_THAT(right.output, !Contains("refuses") && !Contains("ranks have not"));
  CHECK_THAT(right.output, Contains("other: All tests passed"));
  const ranks::Outcome longer = two("EBB_RENDEZVOUS_TOKEN=" + std::string(64, 'x'));
  CHECK_THAT(longer.output, Contains("has 64 characters"));
}
TEST_CASE("a rank joins or is refused", "[.refused]") {
  const char* const limit = std::getenv("EBB_TEST_LIMIT");
  join(milliseconds(limit ? std::stoi(limit) : 20000));
  CHECK(world_size() == 2);
}

TEST_CASE("torchrun starts ranks of NCCL, whose rendezvous warns that there is no token", "[nccl]") {
  if (!can_run_nccl()) return;
  if (ranks::shell("torchrun --help").status != 0) {
    WARN("skipped: needs torchrun on the path (PyPI: torch)");
    return;
  }
  const ranks::Outcome outcome = ranks::shell(stand_in() +
                                              "torchrun --no-python --nproc-per-node 2 --master-port "
                                              "29618 " +
                                              program() + " '[.joins_nccl]'");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("there is no token"));
}

TEST_CASE("srun starts ranks of NCCL with the address of a master", "[nccl]") {
  if (!can_run_nccl() || !ranks::has_slurm()) return;
  const ranks::Outcome outcome = ranks::shell("MASTER_ADDR=127.0.0.1 MASTER_PORT=29619 " + stand_in() +
                                              "srun -n 2 -N 1 " + program() + " '[.two_of_nccl]'");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("there is no token"));
}
TEST_CASE("a process joins a world of two ranks of NCCL", "[.two_of_nccl]") {
  join();
  CHECK(world_size() == 2);
  barrier();
}

TEST_CASE("mpirun starts ranks of NCCL, which exchange the id by MPI", "[nccl]") {
  if (!can_run_nccl() || !ranks::can_run()) return;
  const ranks::Outcome outcome =
      ranks::run(2, "[.two_of_nccl]", "MASTER_ADDR=127.0.0.1 MASTER_PORT=29620 " + stand_in());
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, !Contains("there is no token"));
}

TEST_CASE("a rank that hangs while NCCL connects is an error within the time limit", "[nccl]") {
  if (!can_run_nccl()) return;
  const ranks::Outcome outcome =
      ranks::shell(stand_in() +
                   EBB_RUN
                   " -n 2 --backend nccl sh -c '[ $RANK = 1 ] && export EBB_STAND_IN_HANGS=init; "
                   "EBB_TEST_LIMIT=1000 exec " +
                   program() + " [.refused]'");
  INFO(outcome.output);
  CHECK_THAT(outcome.output, Contains("[0]   the ranks of the group do not connect within"));
}

TEST_CASE("a process of NCCL ends although NCCL hangs in an abort or at its end", "[nccl]") {
  if (!can_run_nccl()) return;
  const support::Environment abort("EBB_STAND_IN_HANGS", "abort");
  CHECK_THAT(run(2, "[.left_nccl]").output, Contains("[0] All tests passed"));
  const support::Environment end("EBB_STAND_IN_HANGS", "finalize"), limit("EBB_TEST_LIMIT", "3000");
  CHECK(run(2, "[.refused]").status == 0);
}

TEST_CASE("a rank uses the only GPU that its launcher shows it", "[nccl]") {
  if (!can_run_nccl()) return;
  const auto with_one = [](const std::string& variable) {
    return ranks::shell(stand_in() + "env EBB_EMU_DEVICES=1 " + variable +
                        " " EBB_RUN " -n 2 --backend nccl " + program() + " '[.two_of_nccl]'");
  };
  CHECK(with_one("CUDA_VISIBLE_DEVICES=0").status == 0);
  CHECK_THAT(with_one("").output, Contains("the local rank 1 has no GPU of its own, because this"));
}

TEST_CASE("connections that send half a token do not keep a rank out", "[nccl]") {
  if (!can_run_nccl()) return;
  const std::string rank = stand_in() + program() + " '[.refused]'";
  const ranks::Outcome outcome = ranks::shell(
      "export MASTER_ADDR=127.0.0.1 MASTER_PORT=29621 WORLD_SIZE=2 EBB_RENDEZVOUS_TOKEN=right; "
      "(ulimit -n 300; RANK=0 LOCAL_RANK=0 " +
      rank +
      ") & "
      "(ulimit -n 500; exec bash -c 'until exec 9<>/dev/tcp/127.0.0.1/29621; do sleep 0.1; done; "
      "for i in $(seq 400); do exec {file}<>/dev/tcp/127.0.0.1/29621; printf half >&$file; done; echo opened "
      "$i; sleep 2') "
      "2>/dev/null & "
      "sleep 2; RANK=1 LOCAL_RANK=1 " +
      rank + "; wait");
  INFO(outcome.output);
  CHECK_THAT(outcome.output, Contains("opened 400") && !Contains("FAILED"));
  const std::size_t passed = outcome.output.find("All tests passed");
  CHECK((passed != std::string::npos &&
         outcome.output.find("All tests passed", passed + 1) != std::string::npos));
}

TEST_CASE("the port of a rendezvous is free after its failure", "[nccl]") {
  if (!can_run_nccl()) return;
  const ranks::Outcome outcome = ranks::shell("RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29622 " +
                                              stand_in() + program() + " '[.alone]'");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
}
TEST_CASE("rank 0 waits twice for a rank that does not come", "[.alone]") {
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(error_of([] { join(milliseconds(300)); }), Contains("1 of 2 ranks have not connected"));
}

TEST_CASE("a connection to a master that does not answer has the time limit", "[nccl]") {
  if (!can_run_nccl()) return;
  // The system does not answer more connections than a program that listens has room for.
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  REQUIRE((bind(listener, place, size) == 0 && listen(listener, 0) == 0 &&
           getsockname(listener, place, &size) == 0));
  for (int i = 0; i < 3; ++i) {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    static_cast<void>(connect(file, place, size));
  }
  const ranks::Outcome outcome =
      ranks::shell("RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 EBB_TEST_LIMIT=1500 MASTER_PORT=" +
                   std::to_string(ntohs(address.sin_port)) + " " + stand_in() + program() + " '[.refused]'");
  INFO(outcome.output);
  CHECK(outcome.status < 124);
  CHECK_THAT(outcome.output, Contains("rank 1 cannot connect with rank 0"));
}

TEST_CASE("with a token rank 0 listens at all addresses if the name of its machine means a local one",
          "[nccl]") {
  if (!can_run_nccl()) return;
  const ranks::Outcome other =
      ranks::shell("hostname -I | grep -o '^[0-9.]*[0-9]' && getent hosts $(hostname) | grep ^127");
  if (other.status != 0) {
    WARN("skipped: the name of this machine does not mean 127.0.0.1 or 127.0.1.1");
    return;
  }
  const std::string address = other.output.substr(0, other.output.find('\n'));
  const std::string rank = stand_in() + program() + " '[.refused]'";
  const ranks::Outcome outcome = ranks::shell(
      "export MASTER_PORT=29623 WORLD_SIZE=2 EBB_RENDEZVOUS_TOKEN=right; RANK=0 LOCAL_RANK=0 "
      "MASTER_ADDR=$(hostname) " +
      rank + " & RANK=1 LOCAL_RANK=1 MASTER_ADDR=" + address + " EBB_TEST_LIMIT=10000 " + rank + "; wait");
  INFO(outcome.output);
  CHECK_THAT(outcome.output, !Contains("FAILED"));
}
