# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how fast the patched FFmpeg decodes with codec threads, compared with an unpatched one."""
