# SPDX-License-Identifier: LGPL-2.1-or-later
"""A result directory for people: one page that needs nothing but a browser, tables for programs, comparisons."""
