# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where players are watched: a screen and a sound card of our own, seen by nobody else."""
