// n-gram counts, the baseline of char_gpt.
#pragma once

#include <string>

/// Returns the nats per character of `held_out`. Each character is predicted from the order - 1 characters
/// before it with the counts in `training`, interpolated with those of shorter contexts (Witten & Bell 1991).
/// Order 2 means bigrams.
double ngram_nats(const std::string& training, const std::string& held_out, std::size_t order);
