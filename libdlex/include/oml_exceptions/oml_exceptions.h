/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For programs that name OML's header with its folder. */
#include "../oml_exceptions.h"
