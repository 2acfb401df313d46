// Checkpoint: supported parts, refused files, and that a refused file changes nothing.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>
#include <fstream>
#include <functional>

using namespace ebb;
using support::Contains;

namespace {

Tensor range_of_six() { return arange(6, kDouble).view({2, 3}); }

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("Checkpoint::load returns false and changes nothing if there is no file") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  int epoch = 3;
  Checkpoint run(file);
  run.add("epoch", epoch);
  CHECK_FALSE(run.load());
  CHECK(epoch == 3);
}

TEST_CASE("a checkpoint round trip keeps values of every kind") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  int epoch = 7;
  std::size_t steps = 1'000'000'000'000;
  double best = 0.1;
  float rate = 0.3f;
  bool done = true;
  std::string note = "caf\xc3\xa9, with \"quotes\"\n", nothing;
  std::vector<double> losses = {1.5, -0.0, 1e-300};
  std::vector<std::int64_t> counts;
  Tensor mean = range_of_six();
  Generator own(5);
  (void)own.random32();
  const auto add_all = [&](Checkpoint& run) -> Checkpoint& {
    return run.add("epoch", epoch)
        .add("steps", steps)
        .add("best", best)
        .add("rate", rate)
        .add("done", done)
        .add("note", note)
        .add("nothing", nothing)
        .add("losses", losses)
        .add("counts", counts)
        .add("mean", mean)
        .add("own", own);
  };
  Checkpoint run(file);
  add_all(run).save();
  const Generator then = own.clone();

  epoch = 0, steps = 0, best = 0, rate = 0, done = false, note = "", nothing = "x", losses = {},
  counts = {1, 2};
  const Tensor view = mean.view({-1});
  mean.zero_();
  own = Generator(9);
  Checkpoint again(file);
  REQUIRE(add_all(again).load());
  CHECK(epoch == 7);
  CHECK(steps == 1'000'000'000'000);
  CHECK(best == 0.1);
  CHECK(rate == 0.3f);
  CHECK(done);
  CHECK(note == "caf\xc3\xa9, with \"quotes\"\n");
  CHECK(nothing.empty());
  CHECK(losses == std::vector<double>{1.5, -0.0, 1e-300});
  CHECK(std::signbit(losses[1]));
  CHECK(counts.empty());
  CHECK(mean.equal(range_of_six()));
  CHECK(view[5].item<double>() == 5);  // in place
  Generator expected = then;
  CHECK(own.random64() == expected.random64());
}

TEST_CASE("a checkpoint restores the default generator even inside a Box-Muller pair") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  manual_seed(3);
  (void)randn({3});  // an odd number leaves the second half of a Box-Muller pair
  (void)randn({1}, kDouble);
  Checkpoint run(file);
  run.save();
  const Tensor next = randn({5}), after = rand({40}), permuted = randperm(20);
  manual_seed(4);
  REQUIRE(run.load());
  CHECK(randn({5}).equal(next));
  CHECK(rand({40}).equal(after));
  CHECK(randperm(20).equal(permuted));
}

TEST_CASE("set_rng_state refuses a tensor that is not a generator's state") {
  Generator own(1);
  const Tensor state = get_rng_state(own);
  const std::uint64_t next = own.random64();
  set_rng_state(state, own);
  CHECK(own.random64() == next);
  CHECK_THAT(error_of([&] { set_rng_state(zeros({3}, kLong), own); }),
             Contains("set_rng_state") && Contains("[3]"));
  CHECK_THAT(error_of([&] { set_rng_state(state.to(kDouble), own); }), Contains("Double"));
  CHECK_THAT(error_of([&] { set_rng_state(Tensor(), own); }), Contains("undefined"));
  Tensor used_up = state.clone();
  used_up[624] = 900;
  CHECK_THAT(error_of([&] { set_rng_state(used_up, own); }), Contains("900 of 624"));
  const std::uint64_t then = own.clone().random64();
  CHECK(own.random64() == then);
}

TEST_CASE("Checkpoint::add refuses invalid and duplicate names") {
  Checkpoint run("run.ckpt");
  int value = 0;
  run.add("epoch", value);
  CHECK_THAT(error_of([&] { run.add("epoch", value); }), Contains("\"epoch\" already"));
  CHECK_THAT(error_of([&] { run.add("rng", value); }), Contains("default generators"));
  for (const char* name : {"", "a.b", "a b", "\xc3\xa9"})
    CHECK_THAT(error_of([&] { run.add(name, value); }), Contains("not a valid name"));
  CHECK_THAT(error_of([] { Checkpoint empty(""); }), Contains("path is empty"));
}

TEST_CASE(
    "loading a damaged file or one that does not match the checkpoint is an error and changes nothing") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  nn::Linear model(3, 2);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.5).momentum(0.9));
  int epoch = 4;
  {
    Checkpoint run(file);
    run.add("model", model).add("optimizer", optimizer).add("epoch", epoch).save();
  }
  const Tensor weight = model->weight.detach().clone();

  SECTION("the parts of the file differ from those of the checkpoint") {
    Checkpoint run(file);
    double loss = 1;
    run.add("model", model).add("loss", loss);
    CHECK_THAT(error_of([&] { run.load(); }), Contains("Not in the file: loss.") &&
                                                  Contains("Only in the file: epoch, optimizer.") &&
                                                  Contains(file));
    CHECK(loss == 1);
  }
  SECTION("the first part matches and the model after it has another shape") {
    nn::Linear other(3, 5);
    const Tensor before = other->weight.detach().clone();
    epoch = 9;
    manual_seed(1);
    const Tensor next = rand({3});
    manual_seed(1);
    Checkpoint run(file);
    run.add("epoch", epoch).add("optimizer", optimizer).add("model", other);
    optimizer.param_groups()[0].options().set_lr(0.25);
    CHECK_THAT(error_of([&] { run.load(); }),
               Contains("weight") && Contains("as it was before") && Contains(file));
    CHECK(epoch == 9);
    CHECK(other->weight.equal(before));
    CHECK(optimizer.param_groups()[0].options().get_lr() == 0.25);
    CHECK(rand({3}).equal(next));
  }
  SECTION("the file contains only weights") {
    save(*model, file);
    Checkpoint run(file);
    run.add("model", model);
    CHECK_THAT(error_of([&] { run.load(); }), Contains("not a checkpoint") && Contains("ebb::load"));
  }
  SECTION("the format version is newer") {
    safetensors::File contents = safetensors::read(file);
    contents.metadata["version"] = "2";
    safetensors::write(file, contents.tensors, contents.metadata);
    Checkpoint run(file);
    run.add("model", model).add("optimizer", optimizer).add("epoch", epoch);
    CHECK_THAT(error_of([&] { run.load(); }), Contains("version"));
  }
  SECTION("the file is truncated") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    Checkpoint run(file);
    run.add("model", model).add("optimizer", optimizer).add("epoch", epoch);
    CHECK_THAT(error_of([&] { run.load(); }), Contains(file));
  }
  CHECK(model->weight.equal(weight));
}

TEST_CASE("Checkpoint::add accepts parts without tensors and pointers to parts") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  auto model = std::make_shared<nn::LinearImpl>(2, 2);
  nn::ReLU nothing;
  Checkpoint run(file);
  run.add("model", model).add("nothing", nothing).save();
  const Tensor weight = model->weight.detach().clone();
  {
    NoGradGuard no_grad;
    model->weight.zero_();
  }
  CHECK(run.load());
  CHECK(model->weight.equal(weight));
}

TEST_CASE("loading a checkpoint makes tensors undefined or defined as they were when it was saved") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  Tensor best, last = ones({2});
  Checkpoint run(file);
  run.add("best", best).add("last", last).save();
  best = ones({3});
  last = Tensor();
  REQUIRE(run.load());
  CHECK_FALSE(best.defined());
  CHECK(last.equal(ones({2})));
}

TEST_CASE("a checkpoint with the generator of an absent device restores the others") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt";
  int epoch = 4;
  Checkpoint run(file);
  run.add("epoch", epoch);
  manual_seed(11);
  run.save();
  const Tensor expected = rand({3});
  const safetensors::File saved = safetensors::read(file);
  safetensors::NamedTensors tensors = saved.tensors;
  tensors.emplace_back("rng.cuda63", saved.at("rng.cpu"));
  safetensors::write(file, tensors, saved.metadata);
  epoch = 0;
  manual_seed(12);
  CHECK(run.load());
  CHECK(epoch == 4);
  CHECK(equal(rand({3}), expected));
}
