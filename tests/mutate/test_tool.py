"""Tests of the tool that build no mutant; those that need libclang are skipped without it."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOL))

import copying  # noqa: E402
import exclusions  # noqa: E402
import judging  # noqa: E402
import sampling  # noqa: E402
import tracing  # noqa: E402
import writing  # noqa: E402
from mutant import Mutant  # noqa: E402

try:
    import clang.cindex  # noqa: F401
    HAS_CLANG = True
except ImportError:
    HAS_CLANG = False


def mutant(text, before, after, number=1, operator="arithmetic", statement=False, file="src/a/b.cpp"):
    """The mutant that replaces `before` by `after`."""
    begin = text.index(before)
    return Mutant(begin, begin + len(before), after, operator, statement, file=file, before=before, number=number,
                  id=f"{number:08x}")


def written(text, *mutants):
    """The text with the mutants, without the line that includes the header."""
    out, refused = writing.written(text.encode(), list(mutants))
    return out.decode().split("\n", 2)[2], refused


class Writing(unittest.TestCase):
    def test_an_expression_becomes_a_choice(self):
        text = "return a + b;"
        out, _ = written(text, mutant(text, "a + b", "a - b", 7))
        self.assertEqual(out, "return (::ebb::mutate::chosen(7) ? (a - b) : (a + b));")

    def test_a_statement_is_left_out_within_braces_so_that_an_else_stays_where_it_is(self):
        text = "if (x) f(); else g();"
        out, _ = written(text, mutant(text, "f();", "", 7, statement=True))
        self.assertEqual(out, "if (x) { if (!::ebb::mutate::chosen(7)) f(); } else g();")

    def test_mutants_within_a_mutant_are_in_its_original(self):
        text = "f(a + 1);"
        out, refused = written(text, mutant(text, "1", "2", 3), mutant(text, "a + 1", "a - 1", 2),
                               mutant(text, "f(a + 1);", "", 1, statement=True))
        self.assertEqual(refused, [])
        self.assertEqual(out, "{ if (!::ebb::mutate::chosen(1)) f((::ebb::mutate::chosen(2) ? (a - 1) : "
                              "(a + (::ebb::mutate::chosen(3) ? (2) : (1))))); }")

    def test_two_mutants_of_one_place_are_both_written(self):
        text = "return n;"
        out, _ = written(text, mutant(text, "n", "n + 1", 1), mutant(text, "n", "n - 1", 2))
        self.assertEqual(out.count("chosen("), 2)
        self.assertIn("n + 1", out)
        self.assertIn("n - 1", out)

    def test_mutants_that_overlap_are_refused(self):
        text = "return a + b + c;"
        _, refused = written(text, mutant(text, "a + b", "a"), mutant(text, "b + c", "b", 2))
        self.assertEqual([m.number for m in refused], [2])

    def test_lines_keep_their_numbers(self):
        text = "int a = f(x,  // the first\n          y);\nint b = 0;\n"
        out, _ = written(text, mutant(text, "f(x,  // the first\n          y)", "f(y,  // the first\n          x)"))
        self.assertEqual(out.count("\n"), text.count("\n"))
        self.assertEqual(out.split("\n")[2], "int b = 0;")
        self.assertIn("f(y,             x)", out)

    def test_a_mutant_built_alone_keeps_the_lines_too(self):
        text = "constexpr int n = a +\n    b;\nint c;\n"
        out = writing.alone(text.encode(), mutant(text, "a +\n    b", "a")).decode()
        self.assertEqual(out, "constexpr int n = (a)\n;\nint c;\n")

    def test_slashes_in_a_string_are_no_comment(self):
        self.assertEqual(writing.on_one_line('f("a//b", // why\n x)'), 'f("a//b",   x)')


class Excluding(unittest.TestCase):
    def test_the_list_of_the_tree_is_well_formed(self):
        known = exclusions.Exclusions((TOOL / "equivalent.txt").read_text())
        self.assertGreater(len(known.entries), 0)

    def test_an_entry_matches_code_whose_format_has_changed(self):
        known = exclusions.Exclusions("files: src/*\noperators: arithmetic\ncode: a \\+ b; => .*a - b\n"
                                      "reason: it is the same for zeros of either sign")
        for text in ("x = a + b;", "x = a  +  b; // why"):
            before = text[4:text.index(";")]
            self.assertIsNotNone(known.reason(mutant(text, before, "a - b", operator="arithmetic"), text), text)

    def test_an_entry_matches_only_its_operators_and_files(self):
        known = exclusions.Exclusions("files: src/*\noperators: bool\ncode: .\nreason: it is a reason of five words")
        self.assertIsNone(known.reason(mutant("x = a;", "a", "b", operator="one"), "x = a;"))
        self.assertIsNone(known.reason(mutant("x = a;", "a", "b", operator="bool", file="include/a.h"), "x = a;"))

    def test_an_entry_without_a_reason_is_refused(self):
        with self.assertRaisesRegex(ValueError, "reason"):
            exclusions.Exclusions("files: *\noperators: *\ncode: a\nreason: none")
        with self.assertRaisesRegex(ValueError, "each once"):
            exclusions.Exclusions("files: *\noperators: *\ncode: a")
        with self.assertRaisesRegex(ValueError, "no operator"):
            exclusions.Exclusions("files: *\noperators: nonsense\ncode: a\nreason: it is a reason of five words")


class Drawing(unittest.TestCase):
    class Places:
        """Two mutants of each of two operators in every file."""

        def of(self, path):
            return [Mutant(i, i + 1, "x", o, file=path, id=f"{path}{o}{i}", constant=i == 1)
                    for o in ("one", "bool") for i in range(2)]

    def draw(self, count, seed=1, excluded=lambda m: None, only_at_run_time=False):
        with tempfile.TemporaryDirectory() as root:
            paths = ["src/a/x.cpp", "src/a/y.cpp", "src/b/z.cpp"]
            for path in paths:
                Path(root, path).parent.mkdir(parents=True, exist_ok=True)
                Path(root, path).write_text("line\n" * 10)
            return sampling.draw(count, seed, root, paths, self.Places(), excluded, only_at_run_time)

    def test_a_seed_gives_the_same_mutants_again_and_another_gives_others(self):
        self.assertEqual(self.draw(6)[0], self.draw(6)[0])
        self.assertNotEqual(self.draw(6)[0], self.draw(6, seed=2)[0])

    def test_no_mutant_is_drawn_twice_and_the_draw_ends_when_all_are(self):
        drawn, _ = self.draw(100)
        self.assertEqual(len({m.id for m in drawn}), 12)
        self.assertEqual(len(drawn), 12)

    def test_an_exclusion_takes_one_away_and_leaves_the_order_of_the_others(self):
        everything = self.draw(6)[0]
        drawn, left_out = self.draw(6, excluded=lambda m: "why" if m.id == everything[2].id else None)
        self.assertEqual(drawn[:5], everything[:2] + everything[3:])
        self.assertEqual(left_out, {"why": [everything[2]]})

    def test_numbers_follow_from_names_and_no_two_are_alike(self):
        one, two, three = (Mutant(0, 1, "", "one", id=f"{i:08x}") for i in (64999, 64999 + 65000, 7))
        sampling.number([three, one, two])
        self.assertEqual([m.number for m in (one, two, three)], [65000, 65001, 8])

    def test_mutants_that_must_be_built_alone_are_counted_when_they_are_left_out(self):
        drawn, left_out = self.draw(100, only_at_run_time=True)
        self.assertEqual((len(drawn), [len(m) for m in left_out.values()]), (6, [6]))


class Copying(unittest.TestCase):
    def test_only_folders_that_have_a_test_program_are_built(self):
        root = TOOL.parents[1]
        folders = copying.Copy(root, root, False, 1, None).folders()
        self.assertIn("nn", folders)
        self.assertIn("optable", folders)
        self.assertNotIn("opinfo", folders)


class Judging(unittest.TestCase):
    def setUp(self):
        self.programs = {n: tracing.Program(n, [], {}, n, cases=["."]) for n in ("nn", "optim")}
        case = lambda p, n, s, r: tracing.Case(p, n, s, r)
        self.cases = {"nn": [case("nn", "", 0, [9]), case("nn", "a, b", 0.1, [1]), case("nn", "c", 0.1, [])],
                      "optim": [case("optim", "d", 2, [1]), case("optim", "e", 1, [1]), case("optim", "f", 0.2, [1])]}

    def plan(self, number):
        m = mutant("a", "a", "b", number, file="src/optim/adam.cpp")
        return [(p.name, names) for p, names, _ in judging.batches(m, self.programs, self.cases)]

    def test_the_folder_of_the_file_comes_first_and_its_quick_cases_before_the_slow(self):
        self.assertEqual(self.plan(1)[:2], [("optim", ["f", "e"]), ("optim", ["d"])])

    def test_a_mutant_that_few_cases_reach_is_shown_to_the_others_at_the_end(self):
        self.assertEqual(self.plan(1)[2:], [("nn", ["a, b"]), ("nn", ["c"])])

    def test_a_mutant_that_is_reached_before_the_first_case_is_shown_to_all(self):
        self.assertEqual(self.plan(9), [("nn", ["a, b", "c"])])

    def test_a_mutant_that_no_case_reaches_survives(self):
        m = mutant("a", "a", "b", 5, file="src/optim/adam.cpp")
        self.assertEqual(judging.judge(m, self.programs, self.cases), ("survived", "reached by no test"))


@unittest.skipUnless(HAS_CLANG, "libclang is not installed")
class Finding(unittest.TestCase):
    """The mutants of snippets, as "operator: before => after"."""

    def found(self, code):
        import places
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.cpp")
            path.write_text(code)
            unit = clang.cindex.Index.create().parse(str(path), args=["-std=c++20"])
            self.assertEqual([d.spelling for d in unit.diagnostics if d.severity > 2], [])
            out = []
            for cursor in unit.cursor.get_children():
                places.walk(places.Node(cursor, code.encode(), None, False), out)
        return [f"{m.operator}{' alone' if m.constant else ''}: {m.before} => {m.after}" for m in out]

    def test_arguments_of_one_type_are_swapped_and_others_are_not(self):
        out = self.found("int f(int, int, bool); int g(int a, int b) { return f(a, b, true); }")
        self.assertEqual([m for m in out if m.startswith("arguments")], ["arguments: f(a, b, true) => f(b, a, true)"])

    def test_an_enumerator_becomes_its_neighbour(self):
        out = self.found("enum class E { a, b, c }; E f() { return E::b; }")
        self.assertEqual(out, ["enumerator: E::b => E::a", "enumerator: E::b => E::c"])

    def test_a_value_that_the_compiler_needs_is_built_alone(self):
        out = self.found("constexpr int n = 3; int a[4]; template <int N> int f(); int g() { return f<5>(); }"
                         "int h(int x) { switch (x) { case 6: return 7; } return 8; } static_assert(9 > 1);"
                         "template <int N> constexpr int k = N > 0; int u() { return k<1>; }")
        ones = {re.search(r": (\d)", m).group(1): "alone" in m for m in out if m.startswith("one")}
        self.assertEqual(ones, {"3": True, "4": True, "5": True, "6": True, "7": False, "8": False, "9": True, "1": True, "0": True})

    def test_a_guard_is_left_out_and_a_last_return_is_not(self):
        out = self.found("int f(int x) { if (x) return 1; return 2; }")
        self.assertEqual([m for m in out if m.startswith("statement")], ["statement: return 1; => "])

    def test_the_bounds_of_a_loop_move(self):
        out = self.found("void f(int); void g(int n) { for (int i = 0; i < n; ++i) f(i); }")
        self.assertEqual([m for m in out if m.startswith("bound")], ["bound: 0 => 0 + 1", "bound: n => n - 1"])

    def test_the_wording_of_a_message_is_found_and_the_condition_is_not_part_of_it(self):
        import places
        text = 'EBB_CHECK(f(a, b) > 1, "a, (", n + 1); warn("got ", n); fail<IndexError>(x);'
        self.assertEqual([text[b:e] for b, e in places.spans_of_messages(text)], [' "a, (", n + 1', '"got ", n', "x"])

    def test_an_argument_of_a_macro_is_mutated(self):
        out = self.found("void fail();\n#define CHECK(x) if (!(x)) fail()\nvoid f(int a) { CHECK(a == 2); }")
        self.assertIn("comparison: a == 2 => a != 2", out)

    def test_the_first_element_does_not_become_the_one_before(self):
        out = self.found("int f(const int* p) { return p[0]; }")
        self.assertEqual(out, ["one: 0 => 0 + 1"])

    def test_a_sum_loses_a_term(self):
        out = self.found("int f(int a, int b) { a += b; return a + b; }")
        self.assertEqual([m for m in out if m.startswith("term")],
                         ["term: a += b; => ", "term: a + b => a", "term: a + b => b"])


if __name__ == "__main__":
    unittest.main()
