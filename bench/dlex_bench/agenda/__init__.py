# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is to be played: an agenda (YAML, in the shape of ARM's Workload Automation) and the jobs that it means."""
