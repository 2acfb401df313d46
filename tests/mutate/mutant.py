"""A mutant: one small change of one file."""

from dataclasses import dataclass


@dataclass
class Mutant:
    """A part of a file and its replacement."""
    begin: int
    end: int
    after: str
    operator: str
    statement: bool = False  # it is omitted; otherwise it is an expression
    constant: bool = False   # the compiler needs its value, so it must be built alone
    file: str = ""
    before: str = ""
    line: int = 0
    id: str = ""
    number: int = 0          # in the current build
