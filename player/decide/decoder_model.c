/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoder_model.h"

static int64_t first_waiting_ns(const struct decoder_model *model, int64_t own_ns)
{
    const int put_in_order = model->delay - model->beside;
    const int before = model->held.count - 1 - put_in_order; /* they leave without this decode */
    const int place = before < 0 ? 0 : before < model->beside ? before : model->beside;
    return model->held.at_ns[place] < own_ns ? model->held.at_ns[place] : own_ns;
}

int64_t decoder_model_add(struct decoder_model *model, int64_t due_ns)
{
    times_insert(&model->held, due_ns);
    const int64_t first_ns = first_waiting_ns(model, due_ns);
    if (model->held.count > model->delay)
        model->left_ns = times_take_first(&model->held);
    return first_ns;
}
