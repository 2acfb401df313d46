// Files by the ways that few programs take.
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>

#include <cstring>
#include <sstream>

#include "support/catch.h"
#include "support/files.h"

using namespace ebb;
using namespace std::string_literals;
using support::Saying;
using support::temporary;

namespace {

std::string with_header(const std::string& header) {
  const std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + "\0\0\x80\x3f"s;
}

}  // namespace

TEST_CASE("is_npz: an archive of arrays is one, and the stream stays where it is") {
  npy::write_npz(temporary("a.npz"), {{"x", arange(3)}});
  npy::write(temporary("a.npy"), arange(3));
  pytorch::write(temporary("a.pt"), pytorch::NamedTensors{{"x", arange(3)}});
  for (const auto& [name, expected] : {std::pair("a.npz", true), {"a.npy", false}, {"a.pt", false}}) {
    INFO(name);
    CHECK(npy::is_npz(temporary(name)) == expected);
    std::stringstream stream("before" + support::read_file(temporary(name)));
    stream.seekg(6);
    CHECK(npy::is_npz(stream) == expected);
    CHECK(stream.tellg() == std::streampos(6));
    if (expected) CHECK(equal(npy::read_npz(stream).at(0).second, arange(3)));
  }
  std::stringstream empty;
  CHECK_FALSE(npy::is_npz(empty));
}

TEST_CASE("an array whose name no archive can hold leaves the file as it was, and nothing beside it") {
  const support::Folder folder;
  const std::string path = folder / "a.npz";
  npy::write_npz(path, {{"x", arange(3)}});
  CHECK_THROWS_MATCHES(npy::write_npz(path, {{"x", arange(4)}, {std::string(60000, 'n'), arange(5)}}), Error,
                       Saying("zip: a name of 60004 bytes is too long."));
  CHECK(equal(npy::read_npz(path).at(0).second, arange(3)));
  CHECK(folder.names() == std::set<std::string>{"a.npz"});
}

TEST_CASE("a safetensors reader that is moved reads its file, the one assigned to another's") {
  std::stringstream first, second;
  safetensors::write(first, {{"a", tensor(1)}});
  safetensors::write(second, {{"b", tensor(2)}});
  safetensors::Reader from(first), to(second);
  safetensors::Reader moved(std::move(to));
  CHECK(moved.get_tensor("b").item<int>() == 2);
  moved = std::move(from);
  CHECK(moved.keys() == std::vector<std::string>{"a"});
  CHECK(moved.get_tensor("a").item<int>() == 1);
}

TEST_CASE(
    "null, true and 1.5 in a safetensors header are passed over where anything may stand, else refused") {
  for (const std::string word : {"null", "true", "1.5"}) {
    const auto read = [](const std::string& header) {
      const std::string bytes = with_header(header);
      return safetensors::parse(bytes.data(), bytes.size());
    };
    const auto entry = [](const std::string& dtype, const std::string& size, const std::string& more) {
      return R"({"a":{"dtype":)" + dtype + R"(,"shape":[)" + size + R"(],"data_offsets":[0,4])" + more + "}}";
    };
    CHECK(read(entry(R"("F32")", "1", R"(,"note":)" + word)).at("a").item<float>() == 1);
    const std::pair<std::string, const char*> wrong[] = {
        {entry(word, "1", ""), "tensor \"a\" has a dtype, shape or data_offsets of the wrong kind"},
        {entry(R"("F32")", word, ""), "tensor \"a\": a size is not a natural number"},
        {R"({"__metadata__":{"k":)" + word + "}}",
         "__metadata__ holds something other than strings at \"k\""},
        {R"({"__metadata__":)" + word + "}", "__metadata__ is not an object"},
        {R"({"a":)" + word + "}", "tensor \"a\" lacks dtype, shape or data_offsets"}};
    for (const auto& [header, message] : wrong) CHECK_THROWS_MATCHES(read(header), Error, Saying(message));
  }
}

TEST_CASE("a module is loaded onto a device, and assigned from names that are changed") {
  nn::Linear from(2, 3), to(2, 3), other(2, 3);
  save(from, temporary("linear.safetensors"));
  const auto keys = load(*to, temporary("linear.safetensors"), Device(kCPU));
  CHECK(keys.missing_keys.empty());
  CHECK(equal(to->weight, from->weight));
  CHECK(equal(to->bias, from->bias));
  safetensors::write(temporary("named.safetensors"),
                     {{"w", from->weight.to(kDouble)}, {"b", from->bias.to(kDouble)}});
  load(other, temporary("named.safetensors"),
       LoadOptions().prefixes({{"w", "weight"}, {"b", "bias"}}).assign(true));
  CHECK(other->weight.dtype() == kDouble);
  CHECK(equal(other->weight, from->weight.to(kDouble)));
  CHECK(equal(other->bias, from->bias.to(kDouble)));
}

TEST_CASE("an option that is text is text in libtorch's file of an optimizer") {
  const Tensor p = ones({2}).requires_grad_();
  const optim::LBFGS optimizer({p}, optim::LBFGSOptions(0.5).line_search_fn("strong_wolfe"));
  std::stringstream stream;
  pytorch::save(optimizer, stream);
  const pytorch::Value options = pytorch::read(stream).at("param_groups").at("param_groups/0").at("options");
  CHECK(options.at("line_search_fn").as_string() == "strong_wolfe");
  CHECK(options.at("lr").as_double() == 0.5);
}

TEST_CASE("a function that writes is given single characters too, and what it does not take is an error") {
  std::string taken;
  const auto keep = [&](const void* data, std::size_t size) {
    taken.append(static_cast<const char*>(data), size);
    return size;
  };
  serialize::detail::with_stream(keep, [](std::ostream& stream) { stream.put('a').put('\xff') << "bc"; });
  CHECK(taken ==
        "a\xff"
        "bc");
  const auto refuse = [](const void*, std::size_t) { return std::size_t{0}; };
  CHECK_THROWS_MATCHES(serialize::detail::with_stream(refuse, [](std::ostream& stream) { stream.put('a'); }),
                       Error, Saying("save: the function that writes took 0 of 1 bytes."));
}
