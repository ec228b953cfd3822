/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only jump of the library. With _FORTIFY_SOURCE glibc ends a program whose longjmp goes to a frame
 * below the caller's. Two jumps of the library may do that: dlex_return goes back into a body that has
 * a variable-length array or alloca, from a finally part without it; and a violation leaves a handler
 * on an alternate stack that the kernel has disarmed. Both frames exist, so the check is left out here.
 */
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 0

#include "thread.h"

void dlex_jump(sigjmp_buf target)
{
    siglongjmp(target, 1);
}
