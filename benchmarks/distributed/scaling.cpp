// The cost model of data parallel training (docs/scaling.md): a calculation without a library. It prints the
// tables of that page from the constants in this file.
//
//     g++ -std=c++20 benchmarks/distributed/scaling.cpp -o scaling && ./scaling
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

// Units: seconds, bytes, floating-point operations.
constexpr double kStart = 8.4e-6;  // of a collective
constexpr double kMiB = 1 << 20;
constexpr double kMemory = 0.9 * 3.35e12;  // bytes per second of an H100's memory, as optimizers use it
constexpr double kJitter = 0.01;           // the standard deviation of a rank's compute time
constexpr double kInterference = 0.1;      // the share of a transfer by which it delays backward

/// Machines with GPUs, and the two algorithms that NCCL chooses from. The latencies are those of NCCL's own
/// tuner (src/graph/tuning.cc) for its protocol LL128, over NVLink and over a network.
struct Cluster {
  const char* name;
  double between;         // bytes per second of a GPU's part of the network between machines
  double inside = 370e9;  // and of NVLink
  int per_machine = 8;

  double machines(int gpus) const { return std::max(1, gpus / per_machine); }
  double bandwidth(int gpus) const {
    return gpus > per_machine ? std::min(inside, between * per_machine) : inside;
  }
  double ring(double bytes, int gpus) const {
    const double steps = 2.0 * (gpus - 1), outside = 2 * (machines(gpus) - 1);
    return kStart + (steps - outside) * 1.9e-6 + outside * 4.0e-6 + steps / gpus * bytes / bandwidth(gpus);
  }
  double tree(double bytes, int gpus) const {
    const double depth = (std::min(gpus, per_machine) - 1) * 1.2e-6 + std::log2(machines(gpus)) * 8.5e-6;
    return kStart + 2 * depth + bytes / (0.45 * bandwidth(gpus));
  }
  double all_reduce(double bytes, int gpus) const {
    return gpus == 1 ? 0 : std::min(ring(bytes, gpus), tree(bytes, gpus));
  }
};

/// A part of a network, whose parameters get their gradients one after the other.
struct Part {
  double parameters;
  double work;  // its share of backward, in any unit
};

struct Network {
  const char* name;
  const char* unit;         // of a batch
  std::vector<Part> parts;  // in the order of backward
  double largest;           // parameter, which no bucket divides
  double operations;        // for one sample, forward and backward
  double rate;              // operations per second of one GPU
  double optimizer;         // bytes of memory traffic for each parameter in step()
  double messages = 0;      // small ones, for which the ranks wait

  double parameters() const {
    double sum = 0;
    for (const Part& part : parts) sum += part.parameters;
    return sum;
  }
};

enum class Sharded { no, yes };

/// Returns the time of a step on each of `gpus` GPUs.
double step_time(const Network& net, const Cluster& cluster, int gpus, double batch, double bytes = 4,
                 double bucket = 25 * kMiB, Sharded sharded = Sharded::no) {
  const double compute = batch * net.operations / net.rate;
  const double slowest = compute * (1 + (gpus > 1 ? kJitter * std::sqrt(2 * std::log(gpus)) : 0));
  const double forward = slowest / 3, backward = slowest * 2 / 3;
  double work = 0, sent_until = forward, sent = 0;
  for (const Part& part : net.parts) work += part.work;
  // The bucket that fills; the share of backward that is over.
  double open = 0, limit = std::min(kMiB, bucket), done = 0;
  const auto send = [&] {
    const double time = cluster.all_reduce(open / 4 * bytes, gpus);
    sent_until = std::max(sent_until, forward + backward * done / work) + time;
    sent += time;
    open = 0;
    limit = std::max(bucket, net.largest * 4);
  };
  for (const Part& part : net.parts) {
    double rest = part.parameters * 4;
    if (rest == 0) done += part.work;
    while (rest > 0) {
      const double piece = std::min(rest, limit - open);
      open += piece;
      rest -= piece;
      done += part.work * piece / (part.parameters * 4);
      if (open >= limit) send();
    }
  }
  if (open > 0) send();
  const double update = net.parameters() * net.optimizer / kMemory;
  const double convert = bytes < 4 && gpus > 1 ? net.parameters() * 12 / kMemory : 0;
  const double overlapped = std::min(sent, backward);
  const double gradients =
      gpus == 1 ? forward + backward
                : std::max(forward + backward + kInterference * overlapped, sent_until) + convert;
  const double waits = gpus == 1 ? 0 : net.messages * cluster.all_reduce(1024, gpus) / 2;
  if (sharded == Sharded::no) return gradients + waits + update;
  // Each rank updates its part, and an all_gather takes half the time of an all_reduce.
  return gradients + waits + update / gpus + cluster.all_reduce(net.parameters() * 4, gpus) / 2;
}

double efficiency(const Network& net, const Cluster& cluster, int gpus, double batch, double bytes = 4,
                  double bucket = 25 * kMiB, Sharded sharded = Sharded::no) {
  return step_time(net, cluster, 1, batch) / step_time(net, cluster, gpus, batch, bytes, bucket, sharded);
}

/// GPT-2 on sequences of 1,024 tokens. The output layer has the weights of the embedding, so the gradient of
/// this largest parameter is complete only at the end of backward.
Network gpt2(const char* name, double layers, double width) {
  constexpr double kTokens = 1024, kVocabulary = 50257;
  const double block = 12 * width * width + 13 * width, attention = 2 * kTokens * width;
  const double embedding = (kVocabulary + kTokens) * width;
  const double products = kVocabulary * width + layers * (12 * width * width + attention);
  return {name,
          "sequences",
          {{2 * width, kVocabulary * width}, {layers * block, layers * (block + attention)}, {embedding, 0}},
          4 * width * width,
          kTokens * products * 2 * 3,
          0.5 * 989e12,
          28};
}

Network resnet50(const char* name, double messages) {
  constexpr double kOperations = 4.09e9 * 2 * 3;
  return {name,
          "images",
          {{2.049e6, 0.002},
           {14.965e6, 0.809},
           {7.098e6, 1.464},
           {1.220e6, 1.028},
           {0.216e6, 0.668},
           {9.5e3, 0.118}},
          2.36e6,
          kOperations,
          1.64 * 2470 * kOperations,
          20,
          messages};
}

const Network kSmall = gpt2("GPT-2 124M", 12, 768), kLarge = gpt2("GPT-2 1.5B", 48, 1600);
// Buffers are one message for each dtype. SyncBatchNorm waits for two all_reduce for each of 53 norms.
const Network kResNet50 = resnet50("ResNet-50", 2);
const Network kSynchronous = resnet50("ResNet-50, SyncBatchNorm", 2 + 2 * 2 * 53);
const Cluster kInfiniBand = {.name = "a link of 400 Gbit/s for each GPU", .between = 47e9};
const Cluster kEthernet = {.name = "a link of 100 Gbit/s for each machine", .between = 11.5e9 / 8};
const std::vector<int> kGpus = {8, 64, 512, 4096};

std::string gpus_row(const char* first) {
  std::string row = std::string("| ") + first + " |", line = "|---|";
  for (const int gpus : kGpus) row += " " + std::to_string(gpus) + " |", line += "---|";
  return row + "\n" + line;
}

std::string text(double value, const char* format) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// "GPT-2 124M, 8 sequences".
std::string title(const Network& net, double batch) {
  const std::string words = std::string(net.name) + text(batch, ", %.0f ") + net.unit;
  return batch == 1 ? words.substr(0, words.size() - 1) : words;
}

void print_all_reduce(const Cluster& cluster) {
  std::printf("\nall_reduce, ms: %s\n\n%s\n", cluster.name, gpus_row("size").c_str());
  for (const double mib : {0.001, 1., 25., 100., 1024.}) {
    std::string row = "| " + (mib < 1 ? "1 KiB" : text(mib, "%.0f MiB")) + " |";
    for (const int gpus : kGpus) {
      const double bytes = mib < 1 ? 1024 : mib * kMiB;
      const bool tree = cluster.tree(bytes, gpus) < cluster.ring(bytes, gpus);
      row += text(cluster.all_reduce(bytes, gpus) * 1e3, " %.3g ") + (tree ? "tree |" : "ring |");
    }
    std::printf("%s\n", row.c_str());
  }
}

// The same batch for each GPU, whatever their number.
void print_weak(const Cluster& cluster) {
  std::printf("\nEfficiency in %%, gradients in float and in bfloat16: %s\n\n%s\n", cluster.name,
              gpus_row("network, batch of a GPU, its compute time").c_str());
  const auto rows = [&](const Network& net, std::vector<double> batches) {
    for (const double batch : batches) {
      std::string row =
          "| " + title(net, batch) + text(batch * net.operations / net.rate * 1e3, ", %.3g ms |");
      for (const int gpus : kGpus)
        row += text(100 * efficiency(net, cluster, gpus, batch), " %.0f, ") +
               text(100 * efficiency(net, cluster, gpus, batch, 2), "%.0f |");
      std::printf("%s\n", row.c_str());
    }
  };
  rows(kResNet50, {256, 32, 8});
  rows(kSynchronous, {256, 32, 8});
  rows(kSmall, {64, 8, 1});
  rows(kLarge, {16, 4, 1});
}

// One batch for all GPUs together: a step cannot use more GPUs than there are samples.
void print_strong(const Cluster& cluster) {
  std::printf("\nTimes as fast as 8 GPUs, one batch for all: %s\n\n%s\n", cluster.name,
              gpus_row("network, batch").c_str());
  const auto row_of = [&](const Network& net, double batch) {
    std::string row = "| " + title(net, batch) + " |";
    const double eight = step_time(net, cluster, 8, batch / 8);
    for (const int gpus : kGpus)
      row += batch < gpus ? " |" : text(eight / step_time(net, cluster, gpus, batch / gpus), " %.3g |");
    std::printf("%s\n", row.c_str());
  };
  row_of(kResNet50, 32768);
  row_of(kSynchronous, 32768);
  row_of(kSmall, 512);
  row_of(kLarge, 1024);
}

void print_buckets(const Cluster& cluster) {
  std::printf("\nEfficiency in %% by the size of a bucket, gradients in float: %s\n\n%s\n", cluster.name,
              gpus_row("network, bucket").c_str());
  const auto rows = [&](const Network& net, double batch) {
    for (const double mib : {1., 5., 25., 100., 400.}) {
      std::string row = "| " + title(net, batch) + text(mib, ", %.0f MiB |");
      for (const int gpus : kGpus)
        row += text(100 * efficiency(net, cluster, gpus, batch, 4, mib * kMiB), " %.0f |");
      std::printf("%s\n", row.c_str());
    }
  };
  rows(kResNet50, 32);
  rows(kLarge, 4);
}

void print_sharded(const Cluster& cluster) {
  std::printf("\nShardedOptimizer: efficiency in %% without and with it, and GB a GPU: %s\n\n%s\n",
              cluster.name, gpus_row("network, batch of a GPU").c_str());
  const auto row_of = [&](const Network& net, double batch) {
    std::string row = "| " + title(net, batch) + " |";
    for (const int gpus : kGpus)
      row += text(100 * efficiency(net, cluster, gpus, batch), " %.0f, ") +
             text(100 * efficiency(net, cluster, gpus, batch, 4, 25 * kMiB, Sharded::yes), "%.0f; ") +
             text(net.parameters() * 16 / 1e9, "%.1f, ") +
             text(net.parameters() * (8 + 8. / gpus) / 1e9, "%.1f |");
    std::printf("%s\n", row.c_str());
  };
  row_of(kSmall, 64);
  row_of(kLarge, 16);
  row_of(kLarge, 4);
}

/// Measured by measure.cpp on two cores of a shared Intel Xeon: medians, in microseconds.
struct Machine {
  int ranks;
  std::vector<double> all_reduce;  // of 4, 16, 64, ... bytes
  struct Step {
    double local, step;
  };
  std::vector<Step> steps;  // of kSteps

  /// Interpolates between the measured sizes.
  double time(double bytes) const {
    const double place = std::log2(bytes / 4) / 2;
    const auto before = std::min(static_cast<std::size_t>(place), all_reduce.size() - 2);
    const double from = 4 * std::pow(4, before), share = (bytes - from) / (3 * from);
    return all_reduce[before] + share * (all_reduce[before + 1] - all_reduce[before]);
  }
};

struct Bucket {
  double bytes, done;  // the share of backward that is over when it is complete
};
struct Step {
  const char* name;
  std::vector<Bucket> buckets;
  double messages = 0;  // of broadcast_buffers: one for each dtype
};
const std::vector<Step> kSteps = {
    {"MLP 20-32-32-10, batch 32", {{8.2e3, 1}}},
    {"MLP 784-1024-1024-1024-10, batch 32", {{4.24e6, 0.36}, {7.42e6, 1}}},
    {"CNN, batch 64 of 28x28", {{1.61e6, 0.1}, {0.075e6, 1}}},
    {"ResNet-18, batch 4 of 64x64", {{2.05e6, 0}, {28.86e6, 0.17}, {15.85e6, 1}}, 2}};

void print_check(const Machine& machine) {
  std::printf(
      "\nSteps on %d ranks, ms\n\n| net | alone | predicted: overlap, sum | measured | sum / measured |\n"
      "|---|---|---|---|---|\n",
      machine.ranks);
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    const auto [local, step] = machine.steps[i];
    const double buffers = kSteps[i].messages * machine.time(1024) / 2;
    double end = local / 3, sum = local + buffers;
    for (const Bucket& bucket : kSteps[i].buckets) {
      end = std::max(end, local / 3 * (1 + 2 * bucket.done)) + machine.time(bucket.bytes);
      sum += machine.time(bucket.bytes);
    }
    const auto ms = [](double us) { return text(us / 1e3, us < 1e5 ? "%.3g" : "%.0f"); };
    std::printf("| %s | %s | %s, %s | %s | %.2f |\n", kSteps[i].name, ms(local).c_str(),
                ms(std::max(end, local) + buffers).c_str(), ms(sum).c_str(), ms(step).c_str(), sum / step);
  }
}

const Machine kTwoRanks = {
    2,
    {3.469, 3.276, 3.169, 3.175, 3.947, 7.995, 14.11, 26.39, 69.44, 535.8, 1801, 7324, 3.021e+04},
    {{40.71, 71.08}, {1.144e+04, 1.886e+04}, {4.008e+04, 4.132e+04}, {1.053e+05, 1.301e+05}}};
const Machine kFourRanks = {
    4,
    {19.19, 17.85, 17.63, 18.8, 20.37, 44.38, 71.45, 105.8, 307.8, 1579, 4167, 1.68e+04, 6.812e+04},
    {{42.46, 248.1}, {2.802e+04, 4.446e+04}, {8.583e+04, 8.268e+04}, {2.272e+05, 2.75e+05}}};

}  // namespace

int main() {
  print_check(kTwoRanks);
  print_check(kFourRanks);
  print_all_reduce(kInfiniBand);
  print_weak(kInfiniBand);
  print_strong(kInfiniBand);
  print_buckets(kInfiniBand);
  print_sharded(kInfiniBand);
  print_all_reduce(kEthernet);
  print_weak(kEthernet);
}
