# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how soon keys take effect: from a seek to its picture, and from quit to the end."""
