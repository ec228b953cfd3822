/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens to a picture that comes out of the decoder: its verdict, its wait, the screen, its row. Main thread. */
#ifndef PLAYER_PRESENTER_H
#define PLAYER_PRESENTER_H

#include "session.h"
#include "steering.h"

#include <stdint.h>

struct presenter {
    struct session *session;
    struct steering *steering;
    int64_t decode_errors; /* packets that the decoder refused */
    bool show_failed;      /* the screen's failure was told */
};

void presenter_init(struct presenter *presenter, struct session *session, struct steering *steering);

/* Takes all pictures that wait in the decoder, in order. Blocks until each is due; stops when something is asked for. */
void presenter_show_all(struct presenter *presenter);

#endif
