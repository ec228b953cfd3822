# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our player and its peers: how each is started, held, and asked how it thinks it did."""
