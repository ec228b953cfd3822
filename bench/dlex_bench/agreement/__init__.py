# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks whether the observer of the screen and our own player agree about one run."""
