# SPDX-License-Identifier: LGPL-2.1-or-later
"""Presents a result directory: one page for people that needs only a browser, tables for programs, and comparisons."""
