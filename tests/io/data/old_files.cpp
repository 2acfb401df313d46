// Writes files of all formats of ebb, and the weights that the training reaches later, into one file. The ebb
// of November 2026 wrote the stored old_files.safetensors. Later versions read it
// (tests/io/old_files_test.cpp).
#include "../old_files.h"

#include <ebb/checkpoint.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

int main() {
  const fs::path folder = fs::temp_directory_path() / "ebb_old_files";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto at = [&](const char* name) { return (folder / name).string(); };
  ebb::safetensors::NamedTensors kept;

  ebb::nn::Linear model = old_files::model();
  const auto tensors = old_files::of_every_dtype();
  ebb::save(model, at("module.safetensors"));
  ebb::save(ebb::arange(5), at("tensor.safetensors"));
  ebb::save(std::vector<ebb::Variable>{ebb::arange(5), ebb::full({2}, 0.5)}, at("list.safetensors"));
  ebb::safetensors::write(at("dtypes.safetensors"), tensors, {{"made", "by ebb"}});
  ebb::safetensors::write_sharded(at("sharded"), tensors, 64);
  ebb::pytorch::write(at("dtypes.pt"), tensors);
  ebb::pytorch::write(at("values.pt"), ebb::pytorch::Dict{{"epoch", 3},
                                                          {"name", "a"},
                                                          {"lr", 0.25},
                                                          {"on", true},
                                                          {"none", ebb::pytorch::Value()},
                                                          {"list", ebb::pytorch::List{1, 2}},
                                                          {"w", model->weight}});
  ebb::pytorch::write_archive(at("archive.pt"), tensors);
  ebb::pytorch::save(*model, at("module.pt"));
  ebb::npy::write(at("array.npy"), tensors[0].second);
  ebb::npy::write_npz(at("arrays.npz"), {tensors[0], tensors[4], tensors[9]});
  ebb::data::Vocabulary::from_words("the cat and the dog", ebb::data::VocabularyOptions().unknown("?"))
      .save(at("words.txt"));

  for (const auto& [name, make] : old_files::optimizers()) {
    ebb::nn::Linear trained = old_files::model();
    const auto optimizer = make(trained->parameters());
    old_files::steps(trained, *optimizer, 2);
    ebb::save(*optimizer, at((name + ".optimizer").c_str()));
    kept.emplace_back("before." + name, old_files::weights(trained).clone());
    old_files::steps(trained, *optimizer, 1);
    kept.emplace_back("after." + name, old_files::weights(trained).clone());
  }

  ebb::manual_seed(7);
  ebb::rand({3});
  ebb::optim::SGD sgd(model->parameters(), ebb::optim::SGDOptions(0.1).momentum(0.9));
  ebb::optim::StepLR scheduler(sgd, 2, 0.5);
  std::int64_t epoch = 2;
  std::string name = "a run";
  old_files::steps(model, sgd, 2);
  scheduler.step();
  ebb::Checkpoint run(at("run.ckpt"));
  run.add("model", model).add("optimizer", sgd).add("scheduler", scheduler).add("epoch", epoch);
  run.add("name", name).save();
  ebb::save(ebb::get_rng_state(), at("generator.safetensors"));
  kept.emplace_back("before.run", old_files::weights(model).clone());
  kept.emplace_back("drawn", ebb::rand({4}));
  scheduler.step();
  old_files::steps(model, sgd, 1);
  kept.emplace_back("after.run", old_files::weights(model).clone());

  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    kept.emplace_back("file." + fs::relative(entry.path(), folder).string(), ebb::tensor(bytes));
  }
  ebb::safetensors::write("old_files.safetensors", kept);
  fs::remove_all(folder);
}
