// What counting reaches: the baseline.
#pragma once

#include <string>

/// Nats per character of `held_out`, each predicted from the order - 1 characters before it by their counts
/// in `training`, interpolated with those of shorter contexts (Witten & Bell 1991). Order 2 are bigrams.
double ngram_nats(const std::string& training, const std::string& held_out, std::size_t order);
