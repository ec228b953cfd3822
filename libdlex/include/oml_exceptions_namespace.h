/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oml_exceptions_namespace.h: the names of oml_exceptions.h without their prefix.
 *
 * Include it last. Words as common as end and any become macros here, so no other header should come
 * after it. C++ has its own try and throw, so this header is for C.
 *
 * The original gives no short name to the protected sections and has no try_within_wcet; they are here
 * because seed 000 (section 5.2) writes them so. The exceptions, the measurements and raise are here
 * too; raise with a signal is still that of <signal.h>. The original's set_abort has no function behind
 * it, not even in the original, and is left out. The original's ereturn had none; here it is
 * oml_ex_return.
 */
#ifndef OML_EXCEPTIONS_NAMESPACE_H
#define OML_EXCEPTIONS_NAMESPACE_H

#include <oml_exceptions.h>

#define define_exception(e)  oml_define_exception(e)
#define declare_exception(e) oml_declare_exception(e)
#define extends(e)           oml_extends(e)
#define set_terminate        oml_set_terminate

#define try                oml_try
#define try_within_abs(ts) oml_try_within_abs(ts)
#define try_within_rel(ts) oml_try_within_rel(ts)
#define try_within_wcet(ts) oml_try_within_wcet(ts)
#define try_within_disable oml_try_within_disable
#define try_within_enable  oml_try_within_enable
#define finally            oml_finally
#define handle             oml_handle
#define when(e)            oml_when(e)
#define any                oml_any
#define end                oml_end
#define handle_end         oml_handle_end

#define ex_timing_constraint_violation oml_ex_timing_constraint_violation
#define ex_time_constr_violation       oml_ex_time_constr_violation
#define ex_deadline_violation          oml_ex_deadline_violation
#define ex_wcet_violation              oml_ex_wcet_violation

#define try_within_rmng_time    oml_try_within_rmng_time
#define try_within_expr_delay   oml_try_within_expr_delay
#define try_within_expr_latency oml_try_within_expr_latency
#define within_disable          oml_within_disable
#define within_enable           oml_within_enable

#define throw(e)     oml_throw(e)
#define raise(e)     oml_raise(e)
#define rethrow      oml_rethrow
#define ereturn(x)   oml_ex_return(x)
#define ex_return(x) oml_ex_return(x)

#endif
