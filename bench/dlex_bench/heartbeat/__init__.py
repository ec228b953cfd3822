# SPDX-License-Identifier: LGPL-2.1-or-later
"""Repeats the experiments of seed 003, "The Wizard of OS: a Heartbeat for Legacy Multimedia Applications"."""
