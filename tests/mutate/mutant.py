"""A mutant: one small change of one file."""

from dataclasses import dataclass


@dataclass
class Mutant:
    """A part of a file, and what is to stand there instead."""
    begin: int
    end: int
    after: str
    operator: str
    statement: bool = False  # it is left out; else an expression
    constant: bool = False   # the compiler needs its value: it must be built alone
    file: str = ""
    before: str = ""
    line: int = 0
    id: str = ""
    number: int = 0          # in the build at hand
