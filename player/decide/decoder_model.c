/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoder_model.h"

int64_t decoder_model_add(struct decoder_model *model, int64_t due_ns)
{
    times_insert(&model->held, due_ns);
    const int64_t first_ns = model->held.at_ns[0];
    if (model->held.count > model->delay)
        model->left_ns = times_take_first(&model->held);
    return first_ns;
}
