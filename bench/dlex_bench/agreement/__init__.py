# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the observer of the screen and our own player tell the same story of one run."""
