// Data loaders with workers, user-defined samplers and datasets, batch requests, chained transforms.
#include "fidelity.h"

#include <algorithm>
#include <numeric>

namespace data_workers {

using namespace torch::data;

struct Line : datasets::Dataset<Line> {
  explicit Line(int64_t n, bool broken = false) : n_(n), broken_(broken) {}
  Example<> get(size_t i) override {
    if (broken_ && i == 5) throw std::runtime_error("sample 5 is broken");
    return {torch::full({3}, static_cast<double>(i), torch::kFloat64),
            torch::tensor(static_cast<int64_t>(i) % 2)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(n_); }
  int64_t n_;
  bool broken_;
};

// A dataset that returns whole batches.
struct Table : datasets::BatchDataset<Table, Example<>> {
  Table() : rows(ramp({10, 2})), labels(torch::arange(10)) {}
  Example<> get_batch(torch::ArrayRef<size_t> request) override {
    std::vector<int64_t> at(request.begin(), request.end());
    const Tensor index = torch::tensor(at);
    return {rows.index_select(0, index), labels.index_select(0, index)};
  }
  torch::optional<size_t> size() const override { return 10; }
  Tensor rows, labels;
};

// A request that is not a list of indices.
struct Span {
  size_t first, count;
  size_t size() const { return count; }
};
struct Windows : datasets::BatchDataset<Windows, Tensor, Span> {
  Tensor get_batch(Span request) override {
    return torch::arange(static_cast<int64_t>(request.first),
                         static_cast<int64_t>(request.first + request.count));
  }
  torch::optional<size_t> size() const override { return 7; }
};
struct SpanSampler : samplers::Sampler<Span> {
  void reset(torch::optional<size_t> = torch::nullopt) override { at = 0; }
  torch::optional<Span> next(size_t batch_size) override {
    if (at >= 7) return torch::nullopt;
    const Span span{at, std::min<size_t>(batch_size, 7 - at)};
    at += span.count;
    return span;
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  size_t at = 0;
};

// Every other sample, starting from the last.
struct Backwards : samplers::Sampler<> {
  explicit Backwards(size_t n) : n(n) { reset(); }
  void reset(torch::optional<size_t> size = torch::nullopt) override {
    n = size.value_or(n);
    left = static_cast<int64_t>(n) - 1;
  }
  torch::optional<std::vector<size_t>> next(size_t batch_size) override {
    std::vector<size_t> batch;
    for (; left >= 0 && batch.size() < batch_size; left -= 2) batch.push_back(static_cast<size_t>(left));
    if (batch.empty()) return torch::nullopt;
    return batch;
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  size_t n;
  int64_t left = 0;
};

template <class Loader>
void walk(const std::string& name, Loader& loader) {
  int count = 0;
  for (auto& batch : loader) {
    report(name + ".data" + std::to_string(count), batch.data);
    report(name + ".target" + std::to_string(count++), batch.target);
  }
  report_value(name + ".count", count);
}

void run() {
  section("workers", [] {
    for (size_t workers : {0, 1, 3}) {
      auto options = DataLoaderOptions().batch_size(4).workers(workers);
      if (workers > 0) options.max_jobs(2);
      auto loader =
          make_data_loader<samplers::SequentialSampler>(Line(11).map(transforms::Stack<>()), options);
      walk("workers" + std::to_string(workers), *loader);
    }
    auto loader = make_data_loader<samplers::SequentialSampler>(
        Line(10).map(transforms::Stack<>()),
        DataLoaderOptions().batch_size(4).workers(2).drop_last(true).enforce_ordering(true));
    for (int epoch = 0; epoch < 3; ++epoch) {
      Tensor sum = torch::zeros({3}, torch::kFloat64);
      for (auto& batch : *loader) sum += batch.data.sum(0);
      report("epoch" + std::to_string(epoch), sum);
    }
    auto free = make_data_loader<samplers::SequentialSampler>(
        Line(9).map(transforms::Stack<>()),
        DataLoaderOptions().batch_size(2).workers(3).enforce_ordering(false));
    std::vector<double> seen;
    for (auto& batch : *free)
      for (int64_t i = 0; i < batch.data.size(0); ++i) seen.push_back(batch.data[i][0].item<double>());
    std::sort(seen.begin(), seen.end());
    report("unordered", torch::tensor(seen, torch::kFloat64));
  });

  section("broken", [] {
    for (size_t workers : {0, 2}) {
      auto loader = make_data_loader<samplers::SequentialSampler>(
          Line(8, true).map(transforms::Stack<>()), DataLoaderOptions().batch_size(3).workers(workers));
      int batches = 0;
      report_error("broken" + std::to_string(workers), [&] {
        for (auto& batch : *loader) batches += batch.data.defined();
      });
      report_value("broken.before" + std::to_string(workers), batches);
    }
  });

  section("whole_batches", [] {
    auto loader = make_data_loader<samplers::SequentialSampler>(Table(), DataLoaderOptions(4));
    walk("table", *loader);
  });

  section("requests", [] {
    auto loader = make_data_loader(Windows(), SpanSampler(), DataLoaderOptions(3));
    int number = 0;
    for (auto& batch : *loader) report("window" + std::to_string(number++), batch);
    auto backwards = make_data_loader(Line(9).map(transforms::Stack<>()), Backwards(9), DataLoaderOptions(2));
    walk("backwards", *backwards);
  });

  section("transforms", [] {
    auto dataset = Line(4)
                       .map(transforms::Lambda<Example<>, Example<>>([](Example<> e) {
                         return Example<>(torch::cat({e.data, e.target.to(torch::kFloat64).unsqueeze(0)}),
                                          e.target + 10);
                       }))
                       .map(transforms::TensorLambda<>([](Tensor t) { return t * t; }))
                       .map(transforms::Stack<>());
    auto loader = make_data_loader<samplers::SequentialSampler>(std::move(dataset), 4);
    walk("transforms", *loader);
    transforms::Normalize<> normalize({0.5, 1.0}, {2.0, 4.0});
    report("normalize", normalize(ramp({2, 2, 3}).to(torch::kFloat32)));
    datasets::TensorDataset rows(std::vector<Tensor>{ramp({2}), ramp({2}, 0, 1)});
    report("rows", rows.get(1).data);
    report_value("rows.size", static_cast<double>(*rows.size()));
    auto singles =
        make_data_loader<samplers::SequentialSampler>(rows.map(transforms::Stack<TensorExample>()), 2);
    for (auto& batch : *singles) report("singles", batch.data);
  });

  section("random", [] {
    // For a seed, the order is that of torch in every epoch.
    torch::manual_seed(12);
    auto loader =
        make_data_loader<samplers::RandomSampler>(Line(10).map(transforms::Stack<>()), DataLoaderOptions(4));
    for (int epoch = 0; epoch < 2; ++epoch) {
      int number = 0;
      for (auto& batch : *loader)
        report("random" + std::to_string(epoch) + std::to_string(number++), batch.data.select(1, 0));
    }
    samplers::RandomSampler sampler(6);
    auto first = sampler.next(4);
    sampler.reset(3);
    auto second = sampler.next(10);
    report_value("sampler.first", static_cast<double>(first->size()));
    report_value("sampler.second", static_cast<double>(second->size()));
    report_value("sampler.sum", std::accumulate(second->begin(), second->end(), 0.0));
    report_value("sampler.none", sampler.next(1).has_value());
  });

  section("iterators", [] {
    auto loader = make_data_loader<samplers::SequentialSampler>(Line(3).map(transforms::Stack<>()), 1);
    auto it = loader->begin();
    report("it", it->data);
    ++it;
    report("it.next", (*it).data);
    report_value("it.end", it == loader->end());
    ++it;
    ++it;
    report_value("it.over", it == loader->end());
    report_value("options", static_cast<double>(loader->options().batch_size));
  });
}

const Program program("data_workers", run);

}  // namespace data_workers
