// Emits sources of all functions in functions.h into a folder.
#include "functions.h"

#include <cstdio>
#include <string>

namespace {

template <class Fn>
void write(const std::string& path) {
  auto compiled = ebb::compile(Fn());
  ebb::manual_seed(1);
  for (int i = 0; i < 5 && !compiled.report().replayed; ++i) std::apply(compiled, Fn::inputs());
  compiled.emit(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  try {
    write<functions::Mlp>(folder + "emitted_mlp.cpp");
    write<functions::Cnn>(folder + "emitted_cnn.cpp");
    write<functions::Transformer>(folder + "emitted_transformer.cpp");
    write<functions::Pair>(folder + "emitted_pair.cpp");
    write<functions::Curvature>(folder + "emitted_curvature.cpp");
    write<functions::Gradients>(folder + "emitted_gradients.cpp");
    write<functions::Mixed>(folder + "emitted_mixed.cpp");
    write<functions::Adds>(folder + "emitted_adds.cpp");
    write<functions::Shared>(folder + "emitted_shared.cpp");
    write<functions::Recurrent>(folder + "emitted_recurrent.cpp");
  } catch (const ebb::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
