"""Code objects and offsets of instructions, as text."""

import os
import sysconfig

import vivace

_OWN = os.path.dirname(vivace.__file__) + os.sep
_ROOTS = sorted({os.getcwd(), sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")}, key=len, reverse=True)


def is_own(code):
    """Whether a function is one of vivace's."""
    return code.co_filename.startswith(_OWN)


def short(path):
    """A file without the folder that Python found it in."""
    if path.startswith(_OWN):
        return "vivace/" + path[len(_OWN) :]
    for root in _ROOTS:
        if path.startswith(root + os.sep):
            return path[len(root) + 1 :]
    return path


class Lines:
    """Looks each line up once."""

    def __init__(self):
        self._numbers = {}
        self._texts = {}
        self._stacks = {}

    def number(self, code, lasti):
        """The line of an instruction."""
        numbers = self._numbers.get(code)
        if numbers is None:
            numbers = self._numbers[code] = [place[0] for place in code.co_positions()]
        at = lasti // 2
        return (numbers[at] if 0 <= at < len(numbers) else None) or code.co_firstlineno

    def text(self, code, lasti):
        """ "file(line): function" """
        found = self._texts.get((code, lasti))
        if found is None:
            found = f"{short(code.co_filename)}({self.number(code, lasti)}): {code.co_name}"
            self._texts[code, lasti] = found
        return found

    def frames(self, stack, own=False):
        """(code, offset) of a stack, innermost first; vivace's own if asked for."""
        pairs = zip(stack[::2], stack[1::2], strict=True)
        return [(code, lasti) for code, lasti in pairs if own or not is_own(code)]

    def stack(self, stack):
        """The texts of a stack without vivace's own functions, innermost first."""
        found = self._stacks.get(stack)
        if found is None:
            found = self._stacks[stack] = [self.text(*frame) for frame in self.frames(stack)]
        return found
