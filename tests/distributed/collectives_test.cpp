// Collectives under mpirun, over all dtypes, layouts and sizes.
#include "ranks.h"
#include "support/catch.h"

#include <limits>

using namespace ebb::distributed;
using ebb::Tensor;

namespace {

const std::vector<ebb::DType> kDtypes = {ebb::kByte, ebb::kChar,  ebb::kShort,  ebb::kInt,  ebb::kLong,
                                         ebb::kHalf, ebb::kFloat, ebb::kDouble, ebb::kBool, ebb::kBFloat16};
const std::vector<ReduceOp> kOps = {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT, ReduceOp::MIN,
                                    ReduceOp::MAX};

// Returns the tensor of a rank: small whole numbers. Only those of three ranks exceed 1, so that all dtypes
// hold the products exactly.
Tensor of_rank(int r, ebb::DType dtype, ebb::IntArrayRef sizes = {2, 3}) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return ((ebb::arange(count, ebb::kLong) * (r + 1) + r) % (r < 3 ? 4 : 2)).to(dtype).view(sizes);
}

// Computes a reduction from the tensors of all ranks.
Tensor reduced(ReduceOp op, ebb::DType dtype, ebb::IntArrayRef sizes = {2, 3}) {
  std::vector<Tensor> all;
  for (int r = 0; r < world_size(); ++r) all.push_back(of_rank(r, dtype, sizes).to(ebb::kDouble));
  const Tensor stack = ebb::stack(all);
  if (op == ReduceOp::SUM) return stack.sum(0).to(dtype);
  if (op == ReduceOp::AVG) return stack.mean(0).to(dtype);
  if (op == ReduceOp::PRODUCT) return stack.prod(0).to(dtype);
  return (op == ReduceOp::MIN ? stack.amin(0) : stack.amax(0)).to(dtype);
}

bool defined_for(ReduceOp op, ebb::DType dtype) { return op != ReduceOp::AVG || ebb::is_floating(dtype); }

}  // namespace

TEST_CASE("collectives give the values of their definitions on 1 to 8 ranks") {
  if (!ranks::can_run()) return;
  for (const int count : {1, 2, 3, 4, 8}) {
    const ranks::Outcome outcome = ranks::run(count, count < 8 ? "[.ranks]" : "[.ranks]~[derivatives]");
    INFO(count << " ranks:\n" << outcome.output);
    CHECK(outcome.status == 0);
  }
}

TEST_CASE("collectives in debug mode and in small pieces give the same values") {
  if (!ranks::can_run()) return;
  const ranks::Outcome outcome =
      ranks::run(2, "[.ranks]~[large]", "EBB_DISTRIBUTED_DEBUG=1 EBB_MPI_MAX_COUNT=3");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
}

TEST_CASE("all_reduce and reduce equal a reduction of all tensors", "[.ranks]") {
  ranks::join();
  for (const ebb::DType dtype : kDtypes) {
    for (const ReduceOp op : kOps) {
      INFO("dtype " << dtype << ", op " << static_cast<int>(op));
      Tensor x = of_rank(rank(), dtype);
      if (!defined_for(op, dtype)) {
        CHECK_THROWS_AS(all_reduce(x, op), ebb::Error);
        continue;
      }
      all_reduce(x, op);
      CHECK(ebb::equal(x, reduced(op, dtype)));
      for (int root = 0; root < world_size(); ++root) {
        Tensor y = of_rank(rank(), dtype);
        reduce(y, root, op);
        CHECK(ebb::equal(y, rank() == root ? reduced(op, dtype) : of_rank(rank(), dtype)));
      }
    }
  }
}

TEST_CASE("all_reduce takes views, empty tensors and scalars", "[.ranks]") {
  ranks::join();
  Tensor base = ebb::zeros({3, 4});
  Tensor column = base.select(1, 2);
  column.fill_(rank() + 1.);
  const auto version = base._version();
  all_reduce(column);
  const double total = world_size() * (world_size() + 1) / 2.;
  CHECK(base.sum().item<double>() == 3 * total);
  CHECK(base._version() > version);
  Tensor none = ebb::empty({0, 5});
  all_reduce(none, ReduceOp::MAX);
  Tensor one = ebb::full({}, rank() + 1.);
  all_reduce(one);
  CHECK(one.item<double>() == total);
}

TEST_CASE("MIN and MAX of all_reduce keep a NaN of any rank", "[.ranks]") {
  ranks::join();
  for (const ebb::DType dtype : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
    for (int from = 0; from < world_size(); ++from) {
      for (const ReduceOp op : {ReduceOp::MIN, ReduceOp::MAX}) {
        Tensor x = ebb::full({2}, rank() == from ? std::numeric_limits<double>::quiet_NaN() : 1., dtype);
        all_reduce(x, op);
        CHECK(x.isnan().all().item<bool>());
      }
    }
  }
}

TEST_CASE("broadcast copies the tensor of one rank", "[.ranks]") {
  ranks::join();
  for (const ebb::DType dtype : kDtypes) {
    for (int root = 0; root < world_size(); ++root) {
      Tensor x = of_rank(rank(), dtype).t();  // not contiguous
      broadcast(x, root);
      CHECK(ebb::equal(x, of_rank(root, dtype).t()));
    }
  }
}

TEST_CASE("all_gather and gather collect tensors of different shapes", "[.ranks]") {
  ranks::join();
  for (const ebb::DType dtype : kDtypes) {
    std::vector<Tensor> outputs, expected;
    for (int r = 0; r < world_size(); ++r) {
      expected.push_back(of_rank(r, dtype, {r, 3}));  // rank 0 sends nothing
      outputs.push_back(ebb::empty({3, r}, dtype).t());
    }
    all_gather(outputs, of_rank(rank(), dtype, {rank(), 3}));
    for (int r = 0; r < world_size(); ++r) CHECK(ebb::equal(outputs[r], expected[r]));
    for (int root = 0; root < world_size(); ++root) {
      for (Tensor& output : outputs) output.zero_();
      gather(of_rank(rank(), dtype, {rank(), 3}), rank() == root ? outputs : std::vector<Tensor>(), root);
      for (int r = 0; r < world_size(); ++r)
        CHECK(ebb::equal(outputs[r], rank() == root ? expected[r] : ebb::zeros_like(expected[r])));
    }
  }
  Tensor all = ebb::empty({world_size() * 2, 3});
  all_gather_into_tensor(all, of_rank(rank(), ebb::kFloat));
  for (int r = 0; r < world_size(); ++r) CHECK(ebb::equal(all.narrow(0, 2 * r, 2), of_rank(r, ebb::kFloat)));
}

TEST_CASE("reduce_scatter reduces and gives each rank its part", "[.ranks]") {
  ranks::join();
  for (const ebb::DType dtype : kDtypes) {
    for (const ReduceOp op : kOps) {
      if (!defined_for(op, dtype)) continue;
      std::vector<Tensor> inputs;
      for (int r = 0; r < world_size(); ++r) inputs.push_back(of_rank(rank(), dtype, {r + 1, 2}));
      Tensor output = ebb::empty({rank() + 1, 2}, dtype);
      reduce_scatter(output, inputs, op);
      CHECK(ebb::equal(output, reduced(op, dtype, {rank() + 1, 2})));
    }
  }
  Tensor part = ebb::empty({2});
  reduce_scatter_tensor(part, of_rank(rank(), ebb::kFloat, {world_size() * 2}));
  CHECK(ebb::equal(part, reduced(ReduceOp::SUM, ebb::kFloat, {world_size() * 2}).narrow(0, 2 * rank(), 2)));
}

TEST_CASE("all_to_all exchanges parts of different sizes", "[.ranks]") {
  ranks::join();
  const int n = world_size();
  // Rank a sends a row of the value 10 a + b, and b more rows, to rank b.
  std::vector<Tensor> inputs, outputs;
  std::vector<std::int64_t> in, out;
  for (int r = 0; r < n; ++r) {
    inputs.push_back(ebb::full({r + 1, 2}, 10. * rank() + r));
    outputs.push_back(ebb::empty({rank() + 1, 2}));
    in.push_back(r + 1);
    out.push_back(rank() + 1);
  }
  all_to_all(outputs, inputs);
  Tensor single = ebb::empty({n * (rank() + 1), 2});
  all_to_all_single(single, ebb::cat(inputs), out, in);
  for (int r = 0; r < n; ++r) CHECK(ebb::equal(outputs[r], ebb::full({rank() + 1, 2}, 10. * r + rank())));
  CHECK(ebb::equal(single, ebb::cat(outputs)));
  Tensor even = ebb::empty({n});
  all_to_all_single(even, ebb::full({n}, 1. * rank()));
  CHECK(ebb::equal(even, ebb::arange(n, ebb::kFloat)));
}

TEST_CASE("scatter gives each rank its tensor", "[.ranks]") {
  ranks::join();
  for (int root = 0; root < world_size(); ++root) {
    std::vector<Tensor> inputs;
    for (int r = 0; rank() == root && r < world_size(); ++r) inputs.push_back(of_rank(r, ebb::kHalf, {r, 2}));
    Tensor x = ebb::empty({rank(), 2}, ebb::kHalf);
    scatter(x, inputs, root);
    CHECK(ebb::equal(x, of_rank(rank(), ebb::kHalf, {rank(), 2})));
  }
}

TEST_CASE("send and recv deliver by tag and from any rank", "[.ranks]") {
  ranks::join();
  const int n = world_size();
  Tensor x = ebb::zeros({5});
  CHECK_THROWS_MATCHES(isend(x, rank()), ebb::Error, support::Saying("cannot send to itself"));
  CHECK_THROWS_MATCHES(isend(x, n), ebb::Error, support::Saying("is not in the group"));
  if (n == 1) return;
  if (rank() == 0) {
    for (int r = 1; r < n; ++r) {
      Work second = isend(ebb::full({5}, 2.), r, {}, 2), first = isend(ebb::full({5}, 1.), r, {}, 1);
      first.wait();
      second.wait();
    }
  } else {
    CHECK(recv(x, 0, {}, 1) == 0);
    CHECK(ebb::equal(x, ebb::full({5}, 1.)));
    recv(x, 0, {}, 2);
    CHECK(ebb::equal(x, ebb::full({5}, 2.)));
  }
  if (rank() == 0) {
    std::vector<bool> seen(n);
    for (int i = 1; i < n; ++i) {
      Tensor byte = ebb::empty({1}, ebb::kByte);
      const int source = recv(byte);
      CHECK(byte.item<int>() == source);
      seen[source] = true;
    }
    CHECK(std::count(seen.begin(), seen.end(), true) == n - 1);
  } else {
    send(ebb::full({1}, rank(), ebb::kByte), 0);
  }
}

TEST_CASE("a large all_reduce and reduce equal the sum of all tensors", "[.ranks][large]") {
  ranks::join();
  const std::int64_t count = 100 * 1000 + 3;  // not a multiple of the ranks
  const Tensor expected = reduced(ReduceOp::SUM, ebb::kFloat, {count});
  Tensor x = of_rank(rank(), ebb::kFloat, {count}), y = x.clone();
  all_reduce(x);
  CHECK(ebb::equal(x, expected));
  reduce(y, world_size() - 1);
  CHECK(ebb::equal(y, rank() == world_size() - 1 ? expected : of_rank(rank(), ebb::kFloat, {count})));
}

TEST_CASE("all_reduce gives all ranks the same bits", "[.ranks][large]") {
  ranks::join();
  for (const std::int64_t count : {1, 1000, 100 * 1000}) {
    ebb::manual_seed(static_cast<std::uint64_t>(rank()));
    Tensor x = ebb::randn({count});
    const std::vector<NamedTensors> inputs = all_gather_object(NamedTensors{{"x", x}});
    Tensor expected = inputs[0][0].second;
    for (int r = 1; r < world_size(); ++r)
      expected = expected + inputs[r][0].second;  // in the order of ranks
    all_reduce(x);
    CHECK(ebb::equal(x, expected));
  }
}

TEST_CASE("asynchronous collectives end in any order of their waits", "[.ranks]") {
  ranks::join();
  std::vector<Tensor> tensors;
  std::vector<Work> works;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back(ebb::full({1000 * i}, i + 1. * rank()));
    works.push_back(all_reduce(tensors.back(), ReduceOp::MAX, {}, /*async_op=*/true));
  }
  for (int i = 19; i >= 0; --i) {
    works[i].wait();
    CHECK(works[i].is_completed());
    CHECK(ebb::equal(tensors[i], ebb::full({1000 * i}, i + world_size() - 1.)));
  }
  barrier();
}

TEST_CASE("objects arrive with all their bytes", "[.ranks]") {
  ranks::join();
  std::string text = rank() == 0 ? std::string("a\0b", 3) : "other";
  broadcast_object(text, 0);
  CHECK(text == std::string("a\0b", 3));
  const std::vector<std::string> all = all_gather_object(std::string(rank() * 3, 'x'));
  for (int r = 0; r < world_size(); ++r) CHECK(all[r] == std::string(r * 3, 'x'));
  NamedTensors named;
  if (rank() == 0)
    named = {{"weight", ebb::arange(6, ebb::kBFloat16).view({2, 3})},
             {"steps", ebb::full({}, 7, ebb::kLong)}};
  broadcast_object(named, 0);
  REQUIRE(named.size() == 2);
  const std::vector<NamedTensors> every = all_gather_object(named);
  for (const NamedTensors& each : every) {
    for (const auto& [name, tensor] : each)
      CHECK(ebb::equal(tensor, name == "steps" ? ebb::full({}, 7, ebb::kLong)
                                               : ebb::arange(6, ebb::kBFloat16).view({2, 3})));
  }
}

TEST_CASE("new groups have ranks of their own", "[.ranks]") {
  ranks::join();
  const int n = world_size();
  std::vector<int> backwards;
  for (int r = n - 1; r >= 0; --r) backwards.push_back(r);
  const ProcessGroup all = new_group(backwards), last = new_group({n - 1});
  CHECK(all.rank() == n - 1 - rank());
  CHECK(all.ranks() == backwards);
  CHECK(all.size() == n);
  Tensor x = ebb::full({1}, 1. * rank());
  broadcast(x, 0, all);
  CHECK(x.item<double>() == n - 1);
  if (rank() == n - 1) {
    all_reduce(x, ReduceOp::SUM, last);
    CHECK(last.rank() == 0);
  } else {
    CHECK(last.rank() == -1);
    CHECK_THROWS_MATCHES(all_reduce(x, ReduceOp::SUM, last), ebb::Error, support::Saying("is not in group"));
  }
  CHECK_THROWS_MATCHES(new_group({0, 0}), ebb::Error, support::Saying("twice"));
  CHECK_THROWS_MATCHES(new_group({n}), ebb::Error, support::Saying("not in the world"));
  CHECK_THROWS_MATCHES(new_group({}), ebb::Error, support::Saying("empty"));
}
