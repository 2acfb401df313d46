// Out of memory: the caller gets an exception, and no data is lost.
#include "scarce/scarce.h"

#include <ebb/checkpoint.h>
#include <ebb/core/allocator.h>
#include <ebb/data.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <thread>

using namespace ebb;
using support::Folder;

namespace {

void nothing() {}

// Runs the checks in a child process, which an uncaught exception ends.
void check(const std::function<void()>& prepare, const std::function<void()>& task,
           const std::function<bool(bool)>& after) {
  CHECK(support::status_of_child([&] {
          task();  // creates everything that is created only once
          const std::string errors = scarce::errors_of(prepare, task, after);
          if (!errors.empty()) std::fprintf(stderr, "%s\n", errors.c_str());
          return errors.empty();
        }) == 0);
}

struct Block : nn::Module {
  explicit Block(int depth) {
    fc = register_module("fc", nn::Linear(2, 2));
    if (depth > 0) inner = register_module("inner", std::make_shared<Block>(depth - 1));
  }
  Tensor forward(const Tensor& x) { return inner ? inner->forward(fc(x)) : fc(x); }
  nn::Linear fc{nullptr};
  std::shared_ptr<Block> inner;
};

safetensors::NamedTensors tensors_of(int version) {
  return {{"a", full({50}, version)}, {"b", full({50}, version)}, {"c", full({50}, version)}};
}

struct Broken : data::datasets::Dataset<Broken, Tensor> {
  Tensor get(std::size_t i) override {
    EBB_CHECK(i != 5, "the example ", std::uint64_t{i}, " is broken, as the words of this long message say.");
    return ones({2});
  }
  optional<std::size_t> size() const override { return 8; }
};

struct Chunks : data::datasets::ChunkDataReader<int> {
  std::vector<int> read_chunk(std::size_t i) override {
    EBB_CHECK(i != 2, "the chunk ", std::uint64_t{i}, " is broken, as the words of this long message say.");
    return std::vector<int>(10, 1);
  }
  std::size_t chunk_count() override { return 4; }
  void reset() override {}
};

}  // namespace

TEST_CASE("destroying a module needs no memory") {
  std::shared_ptr<nn::Module> net;
  check([&] { net = std::make_shared<Block>(6); }, [&] { net.reset(); }, [](bool threw) { return !threw; });
}

TEST_CASE("Module::name does not throw if memory runs out") {
  std::shared_ptr<nn::Module> net;
  check([&] { net = std::make_shared<Block>(0); },
        [&] {
          if (net) (void)net->name();
        },
        [](bool threw) { return !threw; });
}

TEST_CASE("a save that runs out of memory leaves the file unchanged") {
  using Save = std::function<void(const std::string& path, int version)>;
  const Save saves[] = {
      [](auto& path, int v) { safetensors::write(path, tensors_of(v), {{"key", "of a text that is long"}}); },
      [](auto& path, int v) { pytorch::write(path, tensors_of(v)); },
      [](auto& path, int v) { pytorch::write_archive(path, tensors_of(v)); },
      [](auto& path, int v) { npy::write_npz(path, tensors_of(v)); },
      [](auto& path, int v) { npy::write(path, full({50}, v)); },
      [](auto& path, int v) {
        data::Vocabulary::from_words(std::string(100, static_cast<char>('0' + v))).save(path);
      },
      [](auto& path, int v) {
        Tensor x = full({50}, v);
        std::int64_t steps = v;
        Checkpoint(path).add("a-name-that-is-longer-than-most", x).add("steps", steps).save();
      }};
  int number = 0;
  for (const Save& save : saves) {
    INFO("save " << number++);
    const Folder folder;
    const std::string path = folder / "a-file-of-a-long-name";
    save(path, 2);
    const std::string after = support::read_file(path);
    save(path, 1);
    const std::string before = support::read_file(path);
    check([&] { save(path, 1); }, [&] { save(path, 2); },
          [&](bool threw) {
            return support::read_file(path) == (threw ? before : after) && folder.names().size() == 1;
          });
  }
}

TEST_CASE("a save to an archive throws if the writer or the C library runs out of memory") {
  const Folder folder;
  const std::string path = folder / "file";
  const safetensors::NamedTensors tensors = tensors_of(1);
  for (const bool npz : {false, true}) {
    INFO((npz ? "npz" : "torch.save"));
    const auto save = [&] { npz ? npy::write_npz(path, tensors) : pytorch::write(path, tensors); };
    save();
    CHECK(support::status_of_child([&] {
            int failures = 0;
            for (bool done = false; !done && failures < 20000; failures += done ? 0 : 1) {
              scarce::limit_bytes(16 * failures);
              try {
                save();
                done = true;
              } catch (const std::bad_alloc&) {
              } catch (const Error&) {
              }
              scarce::stop_failing();
            }
            return failures > 10 && failures < 20000;
          }) == 0);
  }
}

TEST_CASE("if writing a sharded checkpoint runs out of memory, the old checkpoint is unchanged") {
  for (const std::uint64_t next_bytes : {200U, 10000U}) {
    const Folder folder;
    const std::string at = folder.path().string();
    const auto version = [&] {
      const bool several = std::filesystem::exists(at + "/model.safetensors.index.json");
      const Tensor a = several ? safetensors::ShardedReader(at).get_tensor("a")
                               : safetensors::read(at + "/model.safetensors").tensors[0].second;
      return a[0].item<float>();
    };
    check([&] { safetensors::write_sharded(at, tensors_of(1), 200); },
          [&] { safetensors::write_sharded(at, tensors_of(2), next_bytes); },
          [&](bool threw) {
            const bool right = version() == (threw ? 1 : 2);
            safetensors::write_sharded(at, tensors_of(1), 200);
            return right && folder.names().size() == 4;
          });
  }
}

TEST_CASE("if loading a checkpoint runs out of memory, the run is unchanged") {
  const Folder folder;
  nn::Linear net(3, 3);
  optim::Adam adam(net->parameters());
  std::string note;
  Checkpoint run(folder / "run.ckpt");
  run.add("note", note).add("net", net).add("adam", adam);
  const auto set = [&](float value, const char* text) {
    NoGradGuard no_grad;
    net->weight.fill_(value);
    note = text;
  };
  set(2, "a note that is longer than others");
  run.save();
  CHECK(support::status_of_child([&] {
          return scarce::errors_of([&] { set(1, "another note that is as long as that"); },
                                   [&] { run.load(); },
                                   [&](bool threw) {
                                     return net->weight[0][0].item<float>() == (threw ? 1 : 2) &&
                                            note.starts_with(threw ? "another" : "a note");
                                   },
                                   /*all_as_well=*/false)
              .empty();
        }) == 0);
}

TEST_CASE("a DataLoader whose workers run out of memory throws in the loop") {
  const auto loop = [] {
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
        Broken(), data::DataLoaderOptions(2).workers(2));
    for (auto& batch : *loader) (void)batch;
  };
  CHECK(support::status_of_child(
            [&] { return scarce::errors_of(nothing, loop, [](bool threw) { return threw; }).empty(); }) == 0);
}

TEST_CASE("a ChunkDataset that runs out of memory throws in the loop") {
  const auto loop = [] {
    auto chunks = data::datasets::make_shared_dataset<data::datasets::ChunkDataset<Chunks>>(
        Chunks(), data::samplers::RandomSampler(0), data::samplers::RandomSampler(0),
        data::datasets::ChunkDatasetOptions(2, 3, 6));
    auto loader = data::make_data_loader(std::move(chunks), data::DataLoaderOptions(3));
    for (auto& batch : *loader) (void)batch;
  };
  CHECK(support::status_of_child(
            [&] { return scarce::errors_of(nothing, loop, [](bool threw) { return threw; }).empty(); }) == 0);
}

TEST_CASE("a prefetching pipeline that runs out of memory throws in the loop") {
  const auto loop = [] {
    const auto values = data::from(Broken()).map([](Tensor x) { return x + 1; }).prefetch(2);
    for (const Tensor& x : values) (void)x;
  };
  CHECK(support::status_of_child(
            [&] { return scarce::errors_of(nothing, loop, [](bool threw) { return threw; }).empty(); }) == 0);
}

TEST_CASE("a backward that runs out of memory frees all its nodes") {
  Tensor w, loss;
  std::int64_t nodes = 0;
  check(
      [&] {
        loss = Tensor();
        w = ones({3}, kFloat).requires_grad_();
        nodes = live_node_count();
        const Tensor x = (w * 2).sin();
        x.register_hook(
            [](const Tensor& g) { return g + std::string("a text that is longer than most").size(); });
        x.retain_grad();
        loss = (x[0] * x[1] + x.slice(0, 1, 3).sum() * x.clone().mul_(2).sum()).sum();
      },
      [&] {
        if (loss.defined()) loss.backward();
      },
      [&](bool) {
        loss = Tensor();
        return live_node_count() <= nodes + 1;  // the accumulator node of the leaf
      });
}

TEST_CASE("parallel_for covers its whole range or throws if memory runs out") {
  std::atomic<std::int64_t> sum{0};
  const auto loop = [&] {
    sum = 0;
    parallel_for(0, 1000, 1, [&](std::int64_t from, std::int64_t to) { sum += to - from; });
  };
  check([&] { set_num_threads(4), loop(), set_num_threads(3); }, loop,
        [&](bool threw) { return threw || sum == 1000; });
}

TEST_CASE("functional_call restores the tensors of the module if memory runs out") {
  nn::Linear net(2, 2);
  net->weight.requires_grad_();
  net->weight.mutable_grad() = full({2, 2}, 3.);
  const Tensor before = net->weight.detach().clone(), other = zeros({2, 2}).requires_grad_();
  check(
      nothing, [&] { nn::functional_call(net, {{"weight", other}}, ones({1, 2})); },
      [&](bool) {
        return net->weight.is_leaf() && net->weight.requires_grad() && net->weight.detach().equal(before) &&
               net->weight.grad().defined() && net->weight.grad().equal(full({2, 2}, 3.));
      });
}

TEST_CASE("destroying a tensor in another thread needs no memory") {
  Tensor x;
  CHECK(support::status_of_child([&] {
          x = ones({5}).requires_grad_() * 2;
          std::thread([&] {
            scarce::fail_allocations(0, true);
            x = Tensor();
            scarce::stop_failing();
          }).join();
          return true;
        }) == 0);
}
