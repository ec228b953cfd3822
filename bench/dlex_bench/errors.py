# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a user can meet, as one sentence and an exit code."""

EXIT_SETUP = 1
EXIT_UNFIT = 2
EXIT_SIGNAL = 4


class DemoError(Exception):
    """`sentence` reads "cause; what to do"."""

    def __init__(self, sentence: str, code: int = EXIT_UNFIT) -> None:
        super().__init__(sentence)
        self.code = code


class Interrupted(BaseException):
    """A signal asked us to end. Not an Exception, so that no handler for failures swallows it."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum
