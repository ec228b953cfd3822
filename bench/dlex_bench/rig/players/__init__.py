# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives our player and its peers: how each is started, held under a policy, and asked how well it thinks it played."""
