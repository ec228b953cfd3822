/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "made_up_plan.h"

#include "ns.h"

#include <stdio.h>
#include <string.h>

struct learnt learnt;
struct upcoming ahead[MOST];
struct decoder_model decoder;
struct times to_present;
struct outlook outlook;
struct plan_terms terms;

void made_up_plan_begin(void)
{
    learnt_init(&learnt);
    for (int i = 0; i < 200; i++) {
        for (int of = 0; of < PICTURE_CLASSES; of++) {
            const int64_t size = 1000 + i * 37 % 50 * 1000;
            const struct decode_use use = {
                .picture_class = of, .size_bytes = size, .cpu_ns = size * NS_PER_US, .wall_ns = size * NS_PER_US};
            learnt_add(&learnt, &use, FRAME_MS * NS_PER_MS);
        }
    }
    terms = (struct plan_terms){0};
    memset(&decoder, 0, sizeof decoder);
    decoder.left_ns = INT64_MIN;
    to_present.count = 0;
    outlook = (struct outlook){
        .frame_duration = frame_duration_of(FRAME_MS * NS_PER_MS),
        .room = ROOM,
        .to_present = &to_present,
        .decoder = &decoder,
        .ahead = ahead,
    };
}

void packets(double due_ms, const char *text)
{
    char kind;
    int cost_ms, length;
    for (; sscanf(text, " %c%d%n", &kind, &cost_ms, &length) == 2; text += length) {
        ahead[outlook.count++] = (struct upcoming){
            .due_ns = (int64_t)(due_ms * NS_PER_MS),
            .size_bytes = cost_ms * 1000,
            .picture_class = kind == 'K' ? CLASS_KEY : kind == 'R' ? CLASS_REFERENCE : CLASS_DROPPABLE,
        };
        due_ms += FRAME_MS;
    }
}

void fill_queue(void)
{
    outlook.room = 2;
    times_insert(&to_present, 400 * NS_PER_MS);
    times_insert(&to_present, 440 * NS_PER_MS);
}

enum plan_step step(void)
{
    terms.tolerance_ns = outlook.room == 0 ? 40 * NS_PER_MS : 0;
    return plan_first(&outlook, &learnt, &terms);
}
