// A character-level GPT: a small transformer learns a book, and generates text.
//
// Trained on Alice's Adventures in Wonderland: 820,000 parameters, 2,000 steps. Expected: at most 1.45 nats
// per character on the held-out tenth of the book (1.40 was reached), in 3 min on two cores. Character
// trigrams reach 1.87. The short form takes 18 s, and its expected result is 1.7. --resume continues from the
// checkpoint that is written every 100 steps.
#include "common/program.h"
#include "training.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

struct Followers {
  std::array<int, 256> counts{};
  int total = 0, kinds = 0;
};

// The baseline: returns the nats per character of `held_out`. Each character is predicted from its context,
// the `order` - 1 characters before it. The counts of the context in `training` are interpolated with the
// counts of shorter contexts (Witten & Bell 1991). Order 2 means bigrams.
double ngram_nats(const std::string& training, const std::string& held_out, std::size_t order) {
  std::unordered_map<std::string_view, Followers> contexts;
  for (std::size_t i = order - 1; i < training.size(); ++i)
    for (std::size_t length = 0; length < order; ++length) {
      Followers& after = contexts[std::string_view(training).substr(i - length, length)];
      int& count = after.counts[static_cast<unsigned char>(training[i])];
      after.kinds += count == 0;
      ++count;
      ++after.total;
    }

  double nats = 0;
  for (std::size_t i = order - 1; i < held_out.size(); ++i) {
    double p = 1.0 / 256;  // the prior without a context
    for (std::size_t length = 0; length < order; ++length) {
      const auto found = contexts.find(std::string_view(held_out).substr(i - length, length));
      if (found == contexts.end()) break;
      const Followers& after = found->second;
      p = (after.counts[static_cast<unsigned char>(held_out[i])] + after.kinds * p) /
          (after.total + after.kinds);
    }
    nats -= std::log(p);
  }
  return nats / static_cast<double>(held_out.size() - order + 1);
}

constexpr const char* kAlice = EBB_EXAMPLES_DATA "/alice/alice.txt";

// The plans of the default and the short form, and the stated nats per character of each on Alice.
Plan long_plan() { return {64, 128, 4, 4, 0.15, 32, 2000, 50, 4e-3, 100}; }
Plan short_plan() { return {64, 64, 2, 4, 0.0, 32, 800, 50, 8e-3, 100}; }
constexpr double kLongNats = 1.45, kShortNats = 1.7;

struct Options {
  std::string text = kAlice;
  std::int64_t steps = 0;
  bool resume = false;
};

int learn(const Options& options, const example::Settings& settings) {
  const Text text(options.text);
  Plan plan = settings.brief ? short_plan() : long_plan();
  if (options.steps > 0) plan.steps = options.steps;
  const double bigrams = ngram_nats(text.training(), text.held_out(), 2),
               trigrams = ngram_nats(text.training(), text.held_out(), 3);

  Training training(text, plan, settings.device, settings.path("char_gpt.checkpoint"), settings.report());
  const bool resumed = options.resume && training.resume();
  if (options.resume && !resumed)
    std::printf("There is no checkpoint in %s yet, so the training begins at step 0.\n",
                settings.out.c_str());
  std::printf(
      "%zu characters to learn from, %zu held out, %lld different ones\n"
      "held out, counts of bigrams reach %.3f nats per character, and of trigrams %.3f\n"
      "%lld parameters, %lld layers, %lld characters of context, on %s, from step %lld%s\n",
      text.training().size(), text.held_out().size(), static_cast<long long>(text.vocab_size()), bigrams,
      trigrams, static_cast<long long>(training.parameters()), static_cast<long long>(plan.layers),
      static_cast<long long>(plan.block), settings.device.str().c_str(),
      static_cast<long long>(training.step()), resumed ? " (resumed)" : "");
  training.run();

  const std::string sample = training.sample("\n", settings.brief ? 300 : 800);
  std::printf("\n%s\n\n", sample.c_str());
  settings.report().add_text("sample", sample);
  const double last = static_cast<double>(plan.steps);
  settings.draw("char_gpt.svg", ebb::watch::Figure("char_gpt", "step", "nats per character")
                                    .line("training", training.losses())
                                    .line("held out", training.held_out_steps(), training.held_out_losses())
                                    .line("bigrams", {0, last}, {bigrams, bigrams})
                                    .line("trigrams", {0, last}, {trigrams, trigrams}));
  const double nats = training.held_out_losses().back();
  std::printf("%.3f bits per character\n", nats / std::numbers::ln2);
  // The nats of the plans apply to Alice and the default number of steps. Otherwise the stated result is the
  // result of the n-gram counts.
  const bool known = options.text == kAlice && options.steps == 0;
  const double counted = settings.brief ? bigrams : trigrams;
  return example::at_most("held-out nats per character", nats,
                          !known           ? counted
                          : settings.brief ? kShortNats
                                           : kLongNats);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program(
      "Trains a small GPT on the characters of a text and prints text that it generates.\n"
      "Without --text: Alice's Adventures in Wonderland.");
  Options options;
  program.option("--text", options.text, "a file of at least 10000 characters; its last tenth is held out");
  program.option("--steps", options.steps, "steps of training (default: 2000, with --short 800)");
  program.option("--resume", options.resume, "continues from the checkpoint in the folder of --out");
  return program.run(argc, argv, [&](const example::Settings& settings) { return learn(options, settings); });
}
