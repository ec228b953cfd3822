/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "key_skip.h"

#include <math.h>

/* The RMSE of a repeat grows with this power of the number of repeats … */
static const double repeat_growth = 0.65;
/* … and after so many given up, a late picture is presented again. */
enum { LATE_RUN_MAX = 3 };

/* The decode of the packets up to the key picture, if it goes on. */
struct carrying_on {
    const struct outlook *outlook;
    const struct learnt *learnt;
    const struct key_skip_settings *settings;
    double end_ns; /* from now */
    struct decoder_model decoder;
    int late_run;  /* reference pictures in a row that are not presented */
    double loss;
};

/* Returns the place of the next key picture, or 0 if none is near. */
static int next_key(const struct outlook *outlook)
{
    for (int i = 1; i < outlook->count; i++)
        if (outlook->ahead[i].picture_class == CLASS_KEY)
            return outlook->ahead[i].due_ns - outlook->ahead[0].due_ns <= KEY_SKIP_MAX_NS ? i : 0;
    return 0;
}

static double loss_of_skip(int pictures)
{
    double loss = 0;
    for (int repeat = 1; repeat <= pictures; repeat++)
        loss += pow(repeat, repeat_growth);
    return loss;
}

static void decode_reference(struct carrying_on *on, double cost_ns, double due_ns)
{
    const double presented_ns = learnt_wall_ns(on->learnt, cost_ns + (double)on->learnt->presenting_ns);
    if (on->end_ns + presented_ns <= due_ns + (double)on->settings->late_ns) {
        on->end_ns += presented_ns;
        on->late_run = 0;
        return;
    }
    on->end_ns += learnt_wall_ns(on->learnt, cost_ns);
    on->late_run++;
    on->loss += pow(fmin(on->late_run, LATE_RUN_MAX), repeat_growth) +
                on->settings->lateness_loss * fmax(0, on->end_ns - due_ns) / (double)frame_duration_ns(on->outlook->frame_duration);
    if (on->late_run > LATE_RUN_MAX)
        on->late_run = 1;
}

static void decode_packet(struct carrying_on *on, const struct upcoming *packet)
{
    const struct outlook *const outlook = on->outlook;
    const double due_ns = (double)(decoder_model_add(&on->decoder, packet->due_ns) - outlook->now_ns);
    if (packet->picture_class == CLASS_DROPPABLE) {
        on->end_ns += learnt_wall_ns(on->learnt, on->learnt->refusing_ns);
        on->loss += 1;
    } else {
        const double cost_ns = cost_predict_ns(&on->learnt->costs, packet->picture_class, packet->size_bytes,
                                               frame_duration_ns(outlook->frame_duration));
        decode_reference(on, cost_ns, due_ns - learnt_beside_ns(on->learnt, on->decoder.beside, cost_ns));
    }
    /* It cannot be further ahead than the queue reaches, behind the pictures in codec threads. */
    on->end_ns = fmax(on->end_ns, due_ns - (double)((outlook->room + on->decoder.beside) * frame_duration_ns(outlook->frame_duration)));
}

bool key_skip_pays(const struct outlook *outlook, const struct learnt *learnt, const struct key_skip_settings *settings)
{
    const int pictures = next_key(outlook);
    if (pictures == 0)
        return false;
    struct carrying_on on = {.outlook = outlook, .learnt = learnt, .settings = settings, .decoder = *outlook->decoder};
    for (int i = 0; i < pictures; i++)
        decode_packet(&on, &outlook->ahead[i]);
    return on.loss >= loss_of_skip(pictures);
}
