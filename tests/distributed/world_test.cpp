// A world of one process, and the variables of launchers.
#include "ranks.h"
#include "support/catch.h"
#include "support/scopes.h"

using namespace ebb::distributed;
using ebb::Tensor;
using support::Environment;
using support::Saying;

TEST_CASE("without a launcher the world is one process, and collectives copy") {
  init();
  CHECK(is_initialized());
  CHECK((rank() == 0 && world_size() == 1 && get_rank() == 0 && local_rank() == 0));
  CHECK(ProcessGroup().backend() == "self");
  Tensor x = ebb::arange(6, ebb::kFloat).view({2, 3}), y = ebb::zeros({2, 3}), z = ebb::zeros({6, 1});
  Work work = all_reduce(x, ReduceOp::AVG, {}, /*async_op=*/true);
  work.wait();
  all_gather({y}, x);
  CHECK(ebb::equal(x, y));
  all_gather_into_tensor(z, x.t());
  CHECK(ebb::equal(z.view({3, 2}), x.t()));
  reduce_scatter_tensor(y, x * 2);
  CHECK(ebb::equal(y, x * 2));
  const Tensor leaf = x.clone().requires_grad_();
  functional::all_reduce(leaf).sum().backward();
  CHECK(ebb::equal(leaf.grad(), ebb::ones_like(x)));
  CHECK(all_gather_object(std::string("one")) == std::vector<std::string>{"one"});
  CHECK(new_group({0}).rank() == 0);
  CHECK_THROWS_MATCHES(init(), ebb::Error, Saying("was called before"));
  destroy_process_group();
  CHECK_FALSE(is_initialized());
  CHECK_THROWS_MATCHES(rank(), ebb::Error, Saying("Call ebb::distributed::init() first"));
  destroy_process_group();
}

TEST_CASE("wrong arguments of collectives name shapes and ranks") {
  init();
  const Tensor x = ebb::ones({2, 3}), y = ebb::ones({2}, ebb::kDouble);
  CHECK_THROWS_MATCHES(all_reduce({}), ebb::Error, Saying("undefined"));
  CHECK_THROWS_MATCHES(broadcast(x, 1), ebb::Error, Saying("rank 1 is not in the group of 1 ranks"));
  CHECK_THROWS_MATCHES(all_gather({}, x), ebb::Error, Saying("the list has 0 tensors, but the group has 1"));
  CHECK_THROWS_MATCHES(all_gather({ebb::ones({3})}, x), ebb::Error, Saying("has the shape [3]"));
  CHECK_THROWS_MATCHES(all_gather_into_tensor(y, x), ebb::Error,
                       Saying("different dtypes or devices: Float on cpu and Double on cpu"));
  CHECK_THROWS_MATCHES(all_gather_into_tensor(ebb::ones({5}), x), ebb::Error, Saying("1 times the elements"));
  CHECK_THROWS_MATCHES(all_to_all_single(x, x, {1}, {1}), ebb::Error, Saying("splits that add up to 2"));
  CHECK_THROWS_MATCHES(gather(x, {ebb::ones({3})}, 0), ebb::Error, Saying("has the shape [3]"));
  CHECK_THROWS_MATCHES(scatter(x, {ebb::ones({3})}, 0), ebb::Error, Saying("has the shape [3]"));
  CHECK_THROWS_MATCHES(all_to_all({x}, {ebb::ones({3})}), ebb::Error,
                       Saying("rank 0 sends 3 elements to itself, but receives 6"));
  CHECK_THROWS_MATCHES(all_to_all_single(ebb::ones({5}), ebb::ones({4})), ebb::Error,
                       Saying("rank 0 sends 4 elements to itself, but receives 5"));
  CHECK_THROWS_MATCHES(irecv(x), ebb::Error, Saying("cannot send to itself"));
  CHECK_THROWS_MATCHES(isend(x, 0), ebb::Error, Saying("cannot send to itself"));
  CHECK_THROWS_MATCHES(all_reduce(ebb::ones({2}, ebb::kInt), ReduceOp::AVG), ebb::Error,
                       Saying("AVG needs a floating dtype"));
  CHECK_THROWS_MATCHES(all_reduce(ebb::ones({1}).expand({4})), ebb::Error, Saying("expanded"));
  Tensor leaf = ebb::ones({2}).requires_grad_();
  CHECK_THROWS_MATCHES(all_reduce(leaf), ebb::Error, Saying("requires a gradient"));
  {
    const ebb::NoGradGuard no_grad;
    all_reduce(leaf);
  }
  CHECK_THROWS_MATCHES(Work().source_rank(), ebb::Error, Saying("received nothing"));
  destroy_process_group();
}

TEST_CASE("backward refuses a group of an earlier world") {
  init();
  const Tensor x = ebb::ones({2}).requires_grad_();
  const Tensor y = functional::all_reduce(x, ReduceOp::SUM, new_group({0})).sum();
  destroy_process_group();
  init();
  CHECK_THROWS_MATCHES(y.backward(), ebb::Error, Saying("was made before destroy_process_group()"));
  destroy_process_group();
}

TEST_CASE("a missing backend says what to install") {
  CHECK_THROWS_MATCHES(init("nothing"), ebb::Error, Saying("needs the plugin libebb_nothing.so"));
  CHECK_THROWS_MATCHES(init("../x"), ebb::Error, Saying("is no name of a backend"));
  CHECK_FALSE(is_initialized());
}

TEST_CASE("launchers state the rank by their variables") {
  struct Case {
    const char *rank, *size, *local;
  };
  for (const Case& each : {Case{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
                           Case{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                           Case{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
                           Case{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}}) {
    const Environment rank(each.rank, "5"), size(each.size, "8"), local(each.local, "3");
    CHECK(local_rank() == 3);
    CHECK_THROWS_MATCHES(init("self"), ebb::Error,
                         Saying("states 8 processes, but the backend \"self\" has 1"));
    const Environment wrong(each.rank, "8");
    CHECK_THROWS_MATCHES(init(), ebb::Error, Saying("must be an integer from 0 to 7"));
  }
  const Environment batch("SLURM_NTASKS", "8"), shell("SLURM_PROCID", "0");
  init();  // the shell of a batch job of Slurm is one process
  CHECK(world_size() == 1);
  destroy_process_group();
}
