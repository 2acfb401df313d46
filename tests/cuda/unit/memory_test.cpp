// Pinned (page-locked) CPU memory, non-blocking copies, and memory reports and limits of device allocators.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string_view>

using namespace ebb;
using nlohmann::json;
using support::Contains;
using support::same;

namespace {

const TensorOptions kOnCuda(Device::CUDA), kPinned = TensorOptions().pinned_memory(true);

}  // namespace

TEST_CASE("pinned_memory and pin_memory make pinned tensors") {
  CHECK_FALSE(ones({3}).is_pinned());
  CHECK_FALSE(ones({3}, kOnCuda).is_pinned());
  CHECK(ones({3}, kPinned).is_pinned());
  CHECK(empty({2, 3}, kPinned.dtype(kLong)).is_pinned());
  CHECK(zeros_like(ones({2, 2}), kPinned).is_pinned());
  CHECK(rand({4}, kPinned).is_pinned());
  const Tensor x = arange(6).view({2, 3}).t(), p = x.pin_memory();
  CHECK(p.is_pinned());
  CHECK(p.is_cpu());
  CHECK(p.strides() == x.strides());
  CHECK(equal(p, x));
  CHECK(p.pin_memory().is_same(p));
  CHECK(p[0].is_pinned());
  CHECK_FALSE((p + 1).is_pinned());
  CHECK_THROWS_WITH(ones({3}, kOnCuda.pinned_memory(true)), Contains("pinned") && Contains("cuda"));
  CHECK_THROWS_WITH(ones({3}, kOnCuda).pin_memory(), Contains("pin_memory") && Contains("cuda:0"));
}

TEST_CASE("a blocking copy from borrowed pinned memory is complete on return") {
  const Tensor pinned = ones({1000}).pin_memory();
  const Tensor borrowed = from_blob(pinned.data_ptr(), {1000});
  const Tensor there = borrowed.to(Device::CUDA);
  borrowed.fill_(7);
  CHECK(equal(there.cpu(), ones({1000})));
}

TEST_CASE("gradients flow through pin_memory") {
  const Tensor x = ones({3}).requires_grad_();
  (x.pin_memory().to(Device::CUDA) * 4).sum().backward();
  CHECK(equal(x.grad(), full({3}, 4, kFloat)));
}

TEST_CASE("non-blocking copies to a device finish before later ops use the copied values") {
  const Tensor x = randn({100, 7}).pin_memory();
  const Tensor y = x.to(kOnCuda, true);
  CHECK(same(y * 2, x * 2));
  CHECK(same(x.to(Device::CUDA, kDouble, true), x.to(kDouble)));
  CHECK(same(x.t().to(kOnCuda, true), x.t()));
  CHECK(same(x.slice(0, 10, 90, 3).to(kOnCuda, true), x.slice(0, 10, 90, 3)));
  CHECK(same(x.slice(0, 5, 9).to(kOnCuda, true), x.slice(0, 5, 9)));
  Tensor z = zeros({7, 100}, kOnCuda.dtype(kDouble));
  z.t().copy_(x, true);
  CHECK(same(z.t(), x.to(kDouble)));
  CHECK(same(x.expand({3, 100, 7}).to(kOnCuda, true), x.expand({3, 100, 7})));
  // Memory that is not pinned may be overwritten directly after the call.
  Tensor plain = ones({1000});
  const Tensor copied = plain.to(kOnCuda, true);
  plain.fill_(5);
  CHECK(same(copied, ones({1000})));
  // Pinned memory may be, too, unless the copy is non-blocking.
  Tensor pinned = ones({1000}, kPinned);
  const Tensor waited = pinned.to(Device::CUDA);
  pinned.fill_(5);
  CHECK(same(waited, ones({1000})));
}

TEST_CASE("a non-blocking copy to the host is pinned and complete after synchronization") {
  const Tensor x = randn({50, 20}, kOnCuda);
  const Tensor y = (x + 1).to(TensorOptions(kCPU), true);
  CHECK(y.is_pinned());
  cuda::Event done;
  done.record();
  done.synchronize();
  CHECK(equal(y, (x + 1).cpu()));
  const Tensor converted = x.t().to(Device(kCPU), kDouble, true);
  cuda::synchronize();
  CHECK(equal(converted, x.t().cpu().to(kDouble)));
  Tensor landing = zeros({50, 20}, kPinned);
  landing.copy_(x, true);
  cuda::Stream::current().synchronize();
  CHECK(equal(landing, x.cpu()));
  // A copy into unpinned memory, or with another layout, waits.
  Tensor plain = zeros({50, 20});
  plain.copy_(x, true);
  CHECK(equal(plain, x.cpu()));
  Tensor turned = zeros({20, 50}, kPinned);
  turned.t().copy_(x, true);
  CHECK(equal(turned.t(), x.cpu()));
}

TEST_CASE("pinned memory is not reused during a copy") {
  const cuda::Stream side = cuda::Stream::from_pool();
  Tensor arrived;
  std::vector<Tensor> others;
  {
    const cuda::StreamGuard guard(side);
    const Tensor x = full({1 << 16}, 3, kPinned.dtype(kFloat));
    arrived = x.to(kOnCuda, true);
  }
  for (int i = 0; i < 3; ++i) others.push_back(full({1 << 16}, -1, kPinned.dtype(kFloat)));
  side.synchronize();
  CHECK(same(arrived, full({1 << 16}, 3, kFloat)));
  {
    const cuda::StreamGuard guard(side);
    const Tensor gone = arrived.to(TensorOptions(kCPU), true);
  }
  for (int i = 0; i < 3; ++i) others.push_back(full({1 << 16}, -1, kPinned.dtype(kFloat)));
  side.synchronize();
  for (const Tensor& other : others) CHECK(same(other, full({1 << 16}, -1, kFloat)));
}

TEST_CASE("freed pinned memory is reused") {
  const void* place;
  {
    const Tensor x = ones({1 << 14}, kPinned);
    place = x.data_ptr();
    x.to(kOnCuda, true);
  }
  cuda::synchronize();
  CHECK(ones({1 << 14}, kPinned).data_ptr() == place);
}

namespace {

std::size_t sum_of(const json& segments, const char* what) {
  std::size_t total = 0;
  for (const json& segment : segments)
    if (segment["device"] == 0) total += segment[what].get<std::size_t>();
  return total;
}

}  // namespace

TEST_CASE("a memory snapshot agrees with memory_stats and includes graph memory", "[caching]") {
  const Tensor x = ones({1000}, kOnCuda), y = ones({3 << 20}, kOnCuda);
  Tensor z;
  cuda::Graph graph;
  graph.capture([&] { z = (x * 2) + 1; });
  cuda::synchronize();
  const json snapshot = json::parse(cuda::memory_snapshot());
  const MemoryStats stats = cuda::memory_stats();
  CHECK(sum_of(snapshot["segments"], "total_size") == stats.current + stats.cached);
  CHECK(sum_of(snapshot["segments"], "allocated_size") == stats.current);
  CHECK(snapshot["device_traces"].size() == cuda::device_count());
  bool captured = false;
  for (const json& segment : snapshot["segments"]) captured |= segment["segment_pool_id"][1] != 0;
  CHECK(captured);
  CHECK(snapshot["allocator_settings"]["per_process_memory_fraction"].size() == cuda::device_count());
}

TEST_CASE("the memory history contains the allocation and the release of a tensor", "[caching]") {
  cuda::record_memory_history();
  {
    const Tensor x = ones({100}, kOnCuda);
  }
  const json events = json::parse(cuda::memory_snapshot())["device_traces"][0];
  cuda::record_memory_history(0);
  std::vector<std::string> names;
  for (const json& event : events)
    if (event["action"] != "segment_alloc" && event["action"] != "segment_map")
      names.push_back(event["action"]);
  CHECK(names == std::vector<std::string>{"alloc", "free_requested", "free_completed", "snapshot"});
  CHECK(json::parse(cuda::memory_snapshot())["device_traces"][0].empty());
}

TEST_CASE("set_per_process_memory_fraction limits the memory of a device", "[two_devices]") {
  cuda::empty_cache();
  const std::size_t total = cuda::get_device_properties(0).total_memory;
  CHECK(cuda::get_per_process_memory_fraction() == 1);
  struct Restore {
    ~Restore() { cuda::set_per_process_memory_fraction(1, 0); }
  } restore;
  const auto taken = static_cast<double>(cuda::memory_stats().current) / static_cast<double>(total);
  cuda::set_per_process_memory_fraction(taken + 0.1, 0);
  CHECK(cuda::get_per_process_memory_fraction(0) == taken + 0.1);
  CHECK_THROWS_WITH(empty({static_cast<std::int64_t>(total / 8)}, kOnCuda.dtype(kByte)),
                    Contains("out of memory on cuda:0") && Contains("set_per_process_memory_fraction"));
  const Tensor small = ones({100}, kOnCuda);
  CHECK(small.sum().item<float>() == 100);
  if (cuda::device_count() > 1)  // other devices are not affected
    CHECK(cuda::get_per_process_memory_fraction(1) == 1);
}

TEST_CASE("set_per_process_memory_fraction refuses values outside 0 to 1") {
  for (const double fraction : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_WITH(cuda::set_per_process_memory_fraction(fraction, 0),
                      Contains("set_per_process_memory_fraction") && Contains("between 0 and 1"));
  CHECK_THROWS_WITH(cuda::set_per_process_memory_fraction(0.5, 99),
                    Contains("99") && Contains("out of range"));
  CHECK_THROWS_WITH(cuda::set_allocator_settings("no_such_option:True"), Contains("no_such_option"));
}

TEST_CASE("two runs of a training give equal results with expandable segments") {
  const auto trained = [] {
    manual_seed(5);
    nn::Sequential net(nn::Linear(20, 300), nn::ReLU(), nn::Linear(300, 5));
    net->to(Device::CUDA);
    optim::SGD optimizer(net->parameters(), 0.1);
    for (int step = 0; step < 4; ++step) {
      optimizer.zero_grad();
      const Tensor x = ones({100 * (step + 1), 20}, kOnCuda);  // changing sizes
      net->forward(x).square().mean().backward();
      optimizer.step();
    }
    return net->parameters()[0].detach().cpu();
  };
  const Tensor first = trained();
  cuda::empty_cache();
  CHECK(equal(trained(), first));
  const char* const wanted = std::getenv("EBB_CUDA_ALLOC_CONF");
  if (!wanted || std::string_view(wanted) != "expandable_segments:True") return;
  const Tensor x = ones({10}, kOnCuda);
  const json snapshot = json::parse(cuda::memory_snapshot());
  const char* const supported = std::getenv("EBB_EMU_VIRTUAL_MEMORY");
  const bool expandable = !supported || std::string_view(supported) != "0";
  CHECK(snapshot["allocator_settings"]["expandable_segments"] == expandable);
  for (const json& segment : snapshot["segments"]) CHECK(segment["is_expandable"] == expandable);
}
