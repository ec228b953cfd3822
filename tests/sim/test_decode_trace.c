/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of a decode trace, and the film that is made of it. Not covered: how a trace is made (tests/qoe/test_qoe.py). */
#include "made_up_film.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

/* Writes the text into a new file and returns its path, which is valid until the next call. */
static const char *file_with(const char *text)
{
    static char path[] = P_tmpdir "/dlex-trace-XXXXXX";
    memcpy(path + sizeof path - sizeof "XXXXXX", "XXXXXX", sizeof "XXXXXX");
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    return path;
}

/* Returns what is written for a trace; free it. */
static char *written(const struct decode_trace *trace)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    decode_trace_write_header(out);
    for (int64_t i = 0; i < trace->count; i++)
        decode_trace_write_packet(out, &trace->packets[i]);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(trace_that_is_written_is_read_again)
{
    struct made_up_film made;
    made_up_film_init(&made, "IPbPb", 5 * MS);
    char *const text = written(&made.trace);
    const char *const path = file_with(text);
    char why[256];
    struct decode_trace again;
    ck_assert_int_eq(decode_trace_read(&again, path, why, sizeof why), 0);
    char *const text_again = written(&again);
    ck_assert_str_eq(text_again, text);
    ck_assert_int_eq(again.count, 5);
    ck_assert(isnan(again.packets[0].repeat_rmse_q16[0]));
    ck_assert_double_eq(again.packets[3].repeat_rmse_q16[2], 300);
    unlink(path);
    free(text);
    free(text_again);
    decode_trace_finish(&again);
    made_up_film_finish(&made);
}
END_TEST

static void expect_refusal(const char *text, const char *words)
{
    const char *const path = file_with(text);
    char why[256] = "";
    struct decode_trace trace;
    ck_assert_int_lt(decode_trace_read(&trace, path, why, sizeof why), 0);
    ck_assert_ptr_null(trace.packets);
    ck_assert_msg(strstr(why, words), "\"%s\" is not in \"%s\"", words, why);
    unlink(path);
}

#define HEADER                                                                                                         \
    "pts_ns,size_bytes,key,droppable,decode_cpu_ns,rmse_q16_1,rmse_q16_2,rmse_q16_3,rmse_q16_4,rmse_q16_5,rmse_q16_6," \
    "rmse_q16_7,rmse_q16_8,rmse_q16_9,rmse_q16_10\n"
#define KEY "0,10,1,0,500,,,,,,,,,,\n"

START_TEST(damaged_traces_are_refused)
{
    expect_refusal("", "fewer than two packets");
    expect_refusal(HEADER KEY, "fewer than two packets");
    expect_refusal("pts\n" KEY, "line 1");
    expect_refusal(HEADER "0,10,0,0,500,,,,,,,,,,\n", "line 2");             /* does not begin with a key picture */
    expect_refusal(HEADER KEY "40,10,0,2,500,1,,,,,,,,,\n", "line 3");      /* droppable is 0 or 1 */
    expect_refusal(HEADER KEY "40,10,0,1,-5,1,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "40,10,0,1,500,x,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "40,10,0,1,500,1,,,,,,,,\n", "line 3");       /* a field is missing */
    expect_refusal(HEADER KEY "40,10,0,1,500,1,,,,,,,,,", "line 3");        /* cut */
    expect_refusal(HEADER KEY "0,10,0,1,500,1,,,,,,,,,\n", "same pts_ns");
    expect_refusal(HEADER KEY "40,10,0,1,500,nan,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "40,10,0,1,500,-1,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "40,10,0,1,500,1e999,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "40,10,0,1,5e3,1,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "40,10,0,1,9000000000000000000,1,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "9000000000000000000,10,0,1,500,1,,,,,,,,,\n", "line 3");
    expect_refusal(HEADER KEY "30000000000,10,0,1,500,1,,,,,,,,,\n", "last more than 10 s");
}
END_TEST

START_TEST(film_has_the_pictures_in_presentation_order)
{
    struct made_up_film made;
    made_up_film_init(&made, "IPbPbP", 5 * MS);
    const struct sim_film *const film = &made.film;
    const int places[] = {0, 2, 1, 4, 3, 5};
    for (int packet = 0; packet < 6; packet++) {
        ck_assert_int_eq(film->place_of[packet], places[packet]);
        ck_assert_int_eq(film->packet_at[places[packet]], packet);
        ck_assert_int_eq(film->packets[packet].due_ns, places[packet] * FRAME_NS);
    }
    ck_assert_int_eq(film->delay, 1);
    ck_assert_int_eq(film->frame_duration_ns, FRAME_NS);
    ck_assert_int_eq(film->packets[0].picture_class, CLASS_KEY);
    ck_assert_int_eq(film->packets[1].picture_class, CLASS_REFERENCE);
    ck_assert_int_eq(film->packets[2].picture_class, CLASS_DROPPABLE);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(error_grows_with_the_root_beyond_ten_repeats)
{
    struct made_up_film made;
    made_up_film_init(&made, "IPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP", 5 * MS);
    ck_assert_double_eq(sim_film_rmse_q16(&made.film, 42, 41), 100);
    ck_assert_double_eq(sim_film_rmse_q16(&made.film, 42, 32), 1000);
    ck_assert_double_eq(sim_film_rmse_q16(&made.film, 42, 2), 2000);
    ck_assert_double_eq(sim_film_rmse_q16(&made.film, 3, -1), 20000);
    made_up_film_finish(&made);
}
END_TEST

START_TEST(film_without_the_error_of_a_repeat_is_refused)
{
    struct made_up_film made;
    made_up_film_init(&made, "IPPP", 5 * MS);
    sim_film_finish(&made.film);
    made.trace.packets[3].repeat_rmse_q16[2] = NAN; /* instead of the first picture */
    ck_assert_int_eq(sim_film_init(&made.film, &made.trace), -ENODATA);
    ck_assert_ptr_null(made.film.packets);
    made_up_film_finish(&made);
}
END_TEST

/* Moves the packet `back` places towards the beginning of the film. */
static void move_packet(struct decode_trace *trace, int packet, int back)
{
    const struct trace_packet moved = trace->packets[packet];
    for (; back > 0; back--, packet--)
        trace->packets[packet] = trace->packets[packet - 1];
    trace->packets[packet] = moved;
}

START_TEST(decoder_holds_back_what_is_decoded_before_an_earlier_picture)
{
    for (int back = 0; back <= SIM_DELAY_MAX + 1; back++) {
        struct made_up_film made;
        made_up_film_init(&made, "IPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP", 5 * MS);
        sim_film_finish(&made.film);
        for (int i = 0; i < back; i++)
            move_packet(&made.trace, 20 + back, back); /* in the end, the first one of these pictures is the last one */
        move_packet(&made.trace, 50, back / 2);        /* one picture is decoded early, and only one is held back */
        const int ret = sim_film_init(&made.film, &made.trace);
        if (back > SIM_DELAY_MAX)
            ck_assert_int_eq(ret, -EINVAL);
        else
            ck_assert_int_eq(made.film.delay, back);
        made_up_film_finish(&made);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        trace_that_is_written_is_read_again,
        damaged_traces_are_refused,
        film_has_the_pictures_in_presentation_order,
        error_grows_with_the_root_beyond_ten_repeats,
        film_without_the_error_of_a_repeat_is_refused,
        decoder_holds_back_what_is_decoded_before_an_earlier_picture,
        NULL,
    };
    return suite_run("decode_trace", SUITE_TIMEOUT_DEFAULT, tests);
}
