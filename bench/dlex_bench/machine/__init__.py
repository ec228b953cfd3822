# SPDX-License-Identifier: LGPL-2.1-or-later
"""The CPU that is measured: who may run on it and how, and how it becomes again what it was."""
