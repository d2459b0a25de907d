"""The calculator that some agents have: Python arithmetic on plain numbers, without evaluating anything else."""

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

_ALLOWED = frozenset("0123456789+-*/(). ")
_LONGEST_EXPRESSION = 2_000
# Powers that would not fit any answer and only burn time and memory.
_LARGEST_POWER_BITS = 10_000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class BadCharacter(ValueError):
    """The expression holds something else than digits, ``+ - * / ( ) .`` and spaces."""


class NotComputable(ValueError):
    """The expression is no arithmetic, has no real and finite answer, or is too big."""


def calculate(expression: str) -> str:
    """Return the value rounded to two places as text ("4.0")."""
    if not set(expression) <= _ALLOWED:
        raise BadCharacter("only digits, + - * / ( ) . and spaces can be calculated")
    if len(expression) > _LONGEST_EXPRESSION:
        raise NotComputable(f"the expression is longer than {_LONGEST_EXPRESSION} characters")
    try:
        tree = ast.parse(expression.lstrip(" "), mode="eval")
        return str(round(float(_value(tree.body)), 2))
    except (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise NotComputable(f"{expression[:80]!r} cannot be calculated") from error


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_value(node.left), _value(node.right))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    raise NotComputable("this is no arithmetic")


def _power(base: Any, exponent: Any) -> Any:
    is_whole = isinstance(base, int) and isinstance(exponent, int)
    if is_whole and abs(base) > 1 and math.log2(abs(base)) * exponent > _LARGEST_POWER_BITS:
        raise NotComputable("the power is too big")
    return base**exponent
