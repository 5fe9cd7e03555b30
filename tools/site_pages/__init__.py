# SPDX-License-Identifier: BSD-3-Clause
"""What tools/make-site makes pages from, one file per source."""
