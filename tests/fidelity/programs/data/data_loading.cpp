// Datasets, samplers, transforms and loaders.
#include "fidelity.h"

namespace data_loading {

using namespace torch::data;

struct Squares : Dataset<Squares> {
  explicit Squares(size_t count) : count_(count) {}
  Example<> get(size_t index) override {
    return {torch::full({2}, static_cast<double>(index), torch::kFloat64),
            torch::tensor(static_cast<int64_t>(index * index))};
  }
  torch::optional<size_t> size() const override { return count_; }
  size_t count_;
};

struct Single : Dataset<Single, TensorExample> {
  TensorExample get(size_t index) override { return torch::full({1}, static_cast<double>(index)); }
  torch::optional<size_t> size() const override { return 4; }
};

template <class Loader>
void walk(const std::string& name, Loader& loader) {
  int count = 0;
  for (auto& batch : loader) {
    report(name + ".data" + std::to_string(count), batch.data);
    report(name + ".target" + std::to_string(count++), batch.target);
  }
}

void run() {
  section("sequential", [] {
    auto loader = make_data_loader<samplers::SequentialSampler>(Squares(5).map(transforms::Stack<>()),
                                                                DataLoaderOptions().batch_size(2));
    walk("sequential", *loader);
    auto dropped = make_data_loader<samplers::SequentialSampler>(
        Squares(5).map(transforms::Stack<>()), DataLoaderOptions().batch_size(2).drop_last(true));
    walk("dropped", *dropped);
    auto workers = make_data_loader<samplers::SequentialSampler>(
        Squares(7).map(transforms::Stack<>()), DataLoaderOptions().batch_size(3).workers(2));
    walk("workers", *workers);
    walk("workers.again", *workers);
  });

  section("plain", [] {
    auto loader = make_data_loader<samplers::SequentialSampler>(Squares(3), 2);
    int64_t seen = 0;
    for (auto& batch : *loader)
      for (auto& example : batch) seen += example.target.item<int64_t>();
    report_value("plain", static_cast<double>(seen));
    Squares dataset(4);
    report_value("size", static_cast<double>(*dataset.size()));
    report("get", dataset.get(3).target);
    report_value("batch", static_cast<double>(dataset.get_batch({0, 2}).size()));
  });

  section("random", [] {
    torch::manual_seed(3);
    auto loader = make_data_loader(Squares(6).map(transforms::Stack<>()), DataLoaderOptions().batch_size(6));
    for (auto& batch : *loader) report("random", std::get<0>(batch.target.sort()));
    samplers::RandomSampler sampler(5);
    report_value("sampler", static_cast<double>(sampler.next(3)->size()));
    samplers::SequentialSampler line(3);
    const auto first = line.next(2), rest = line.next(2), none = line.next(2);
    report_value("line.first", static_cast<double>((*first)[1]));
    report_value("line.rest", static_cast<double>(rest->size()));
    report_value("line.none", none.has_value());
  });

  section("transforms", [] {
    auto dataset =
        Squares(3)
            .map(transforms::Lambda<Example<>>([](Example<> e) { return Example<>(e.data + 1, e.target); }))
            .map(transforms::TensorLambda<>([](Tensor t) { return t * 10; }))
            .map(transforms::Stack<Example<>>());
    auto loader = make_data_loader<samplers::SequentialSampler>(std::move(dataset), 3);
    walk("transforms", *loader);
    auto singles =
        make_data_loader<samplers::SequentialSampler>(Single().map(transforms::Stack<TensorExample>()), 4);
    for (auto& batch : *singles) report("singles", batch.data);
    datasets::TensorDataset tensors(ramp({4, 2}));
    report("TensorDataset", tensors.get(2).data);
  });
}

const Program program("data_loading", run);

}  // namespace data_loading
