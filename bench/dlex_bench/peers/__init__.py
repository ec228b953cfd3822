# SPDX-License-Identifier: LGPL-2.1-or-later
"""The measurement against other players: its batch, its tables, its goals."""
