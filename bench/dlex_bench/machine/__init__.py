# SPDX-License-Identifier: LGPL-2.1-or-later
"""Controls the measured CPU: who may run on it and how, and how its settings are restored."""
