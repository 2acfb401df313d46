// Text: vocabularies, windows of tokens, batches of sequences.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

using namespace ebb;
using namespace ebb::data;
using support::Contains;
using Strings = std::vector<std::string>;

TEST_CASE("a character vocabulary counts UTF-8 characters") {
  const std::string text = "b\u00e4b\n\u20aca\U0001F600b\\";
  const Vocabulary vocabulary = Vocabulary::from_characters(text);
  CHECK(vocabulary.tokens() == Strings{"b", "\n", "\\", "a", "\u00e4", "\u20ac", "\U0001F600"});
  CHECK(equal(vocabulary.encode("b\u00e4a"), tensor({0, 4, 3})));
  CHECK(vocabulary.decode(vocabulary.encode(text)) == text);
  CHECK_THROWS_WITH(vocabulary.encode("c"), Contains("\"c\" is not in it"));
  const std::string broken = "a\xe2\x82z\xff\xc3";  // bytes that belong to no character
  const Vocabulary bytes = Vocabulary::from_characters(broken);
  CHECK(bytes.size() == 6);
  CHECK(bytes.decode(bytes.encode(broken)) == broken);
  // The second byte is invalid, and in the last two it is followed by valid ones.
  const Vocabulary second = Vocabulary::from_characters("\xc3(\xe2(\xa1\xf0(\x8c\xbc");
  CHECK(second.tokens() == Strings{"(", "\x8c", "\xa1", "\xbc", "\xc3", "\xe2", "\xf0"});
}

TEST_CASE("a word vocabulary lists special tokens first and then words by frequency") {
  const std::string text = "the cat  and the dog\nand the <eos> bird";
  const auto options = VocabularyOptions().specials({"<unk>", "<eos>"}).unknown("<unk>").min_freq(2);
  const Vocabulary vocabulary = Vocabulary::from_words(text, options);
  CHECK(vocabulary.tokens() == Strings{"<unk>", "<eos>", "the", "and"});
  CHECK(vocabulary.size() == 4);
  CHECK(equal(vocabulary.encode("and the cow <eos>"), tensor({3, 2, 0, 1})));
  CHECK(vocabulary.decode(tensor({3, 2, 0})) == "and the <unk>");
  CHECK(vocabulary.token(2) == "the");
  CHECK(vocabulary.contains("the"));
  CHECK_FALSE(vocabulary.contains("dog"));
  CHECK(vocabulary.index("dog") == 0);
  CHECK(vocabulary.encode(" \n").numel() == 0);
  CHECK(Vocabulary::from_words("a b b", VocabularyOptions().unknown("?")).tokens() == Strings{"?", "b", "a"});
  CHECK_THROWS_MATCHES(vocabulary.token(4), IndexError,
                       support::Saying("Vocabulary: there is no token 4 among 4"));
  CHECK_THROWS_MATCHES(vocabulary.decode(tensor({-1})), IndexError,
                       support::Saying("Vocabulary: there is no token -1 among 4"));
  CHECK_THROWS_WITH(vocabulary.decode(zeros({2})), Contains("expected integers"));
  CHECK_THROWS_WITH(Vocabulary::from_words("a", VocabularyOptions().specials({"x", "x"})),
                    Contains("occurs twice"));
}

TEST_CASE("a vocabulary survives saving and loading") {
  const FakeRoot root;
  const std::string path = root.path() + "/v.txt";
  const Vocabulary characters = Vocabulary::from_characters("a\n\r\\n b");
  characters.save(path);
  CHECK(Vocabulary::load(path).tokens() == characters.tokens());
  CHECK(Vocabulary::load(path).unit() == Vocabulary::Unit::character);
  Vocabulary::from_words("x y", VocabularyOptions().unknown("<unk>")).save(path);
  const Vocabulary words = Vocabulary::load(path);
  CHECK(words.unit() == Vocabulary::Unit::word);
  CHECK(equal(words.encode("y z"), tensor({2, 0})));
  CHECK(read_text(path) == "vocabulary of words\n<unk>\n<unk>\nx\ny\n");
  root.write("/v.txt", "vocabulary of words\n\nx\ny");
  CHECK_THROWS_WITH(Vocabulary::load(path), Contains("is truncated"));
  root.write("/v.txt", "vocabulary of words\n\n\\x\n");
  CHECK_THROWS_WITH(Vocabulary::load(path), Contains("escape sequence"));
  root.write("/v.txt", "x\ny\nz\n");
  CHECK_THROWS_WITH(Vocabulary::load(path), Contains("v.txt"));
}

TEST_CASE("TextDataset windows have the following tokens as targets") {
  datasets::TextDataset apart(arange(10), 3);
  REQUIRE(*apart.size() == 3);
  CHECK(equal(apart.get(2).data, tensor({6, 7, 8})));
  CHECK(equal(apart.get(2).target, tensor({7, 8, 9})));
  CHECK(apart.get(0).data.is_alias_of(apart.tokens()));
  CHECK(*datasets::TextDataset(arange(9), 3).size() == 2);  // the last target would be missing
  datasets::TextDataset sliding(arange(10), 3, 1);
  REQUIRE(*sliding.size() == 7);
  CHECK(equal(sliding.get(6).target, tensor({7, 8, 9})));
  CHECK_THROWS_WITH(apart.get(3), Contains("no window 3 in 3"));
  CHECK_THROWS_WITH(datasets::TextDataset(arange(3), 3), Contains("need 4 tokens"));
  CHECK_THROWS_WITH(datasets::TextDataset(zeros({5}), 3), Contains("kLong"));
  CHECK_THROWS_WITH(datasets::TextDataset(arange(9), 3, 0), Contains("positive"));
}

TEST_CASE("sequences of different lengths are padded in a batch") {
  transforms::PadSequence pad(-1);
  const Example<> tagged =
      pad.apply_batch({{tensor({1, 2, 3}), tensor({4, 5, 6})}, {tensor({7}), tensor({8})}});
  CHECK(equal(tagged.data, tensor({{1, 2, 3}, {7, -1, -1}})));
  CHECK(equal(tagged.target, tensor({{4, 5, 6}, {8, -100, -100}})));
  const Example<> labelled = pad.apply_batch({{ones({1, 2}), tensor(3)}, {ones({2, 2}), tensor(4)}});
  CHECK(labelled.data.sizes() == IntArrayRef({2, 2, 2}));
  CHECK(labelled.data[0][1].eq(-1).all().item<bool>());
  CHECK(equal(labelled.target, tensor({3, 4})));
}
