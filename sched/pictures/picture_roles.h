/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each process of a graph of pictures does in one instance. */
#ifndef PICTURE_ROLES_H
#define PICTURE_ROLES_H

#include "picture_file.h"
#include "picture_store.h"

#include <stdbool.h>

/* What the options have set. */
struct picture_job {
    struct picture_store *store; /* NULL: the role needs none */
    int part, parts;             /* of the picture, 0 <= part < parts */
    int object;                  /* enum picture_object */
    double work_ms;              /* CPU time */
    struct picture_file *file;   /* of the writer */
};

/* Returns 0, or a negative errno after which the process ends. */
typedef int picture_role_run(struct picture_job *job);

struct picture_role {
    const char *name;
    picture_role_run *run;
    bool needs_store;
    const char *purpose;
};

extern const struct picture_role picture_roles[]; /* ends with a NULL name */

#endif
