// Small forms of modules' helpers that programs use.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

TEST_CASE("a text literal is a value of a module") {
  nn::AnyValue value("text");
  CHECK(value.type_info() == typeid(const char*));
  CHECK(std::string(value.get<const char*>()) == "text");
  struct Speaker : nn::Module {
    int forward(const char* text) { return static_cast<int>(std::string(text).size()); }
  };
  nn::AnyModule module(std::make_shared<Speaker>());
  CHECK(module.forward<int>("four") == 4);
}

TEST_CASE("parameter lists are added up") {
  nn::ParameterList a(ones({1}), ones({2})), b(ones({3}));
  *a += *b;
  CHECK(a->size() == 3);
  CHECK(a[2].size(0) == 3);
  (*a += *b) += *b;
  CHECK(a->size() == 5);
}
