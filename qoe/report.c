/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include "build_facts.h"
#include "lip_sync.h"

#include <errno.h>
#include <inttypes.h>
#include <libavutil/avutil.h>
#include <math.h>
#include <string.h>

enum { CONVERSION_SIZE = 100, KEY_SIZE = 40, COLUMNS = 80, PART_SIZE = 160 };

/* Writes both parts as one line or, if it would have more than 80 columns, as two, of which the second is indented. */
static void write_parts(FILE *out, const char *first, const char *second, int indentation)
{
    if (strlen(first) + 1 + strlen(second) <= COLUMNS)
        fprintf(out, "%s %s\n", first, second);
    else
        fprintf(out, "%s\n%*s%s\n", first, indentation, "", second);
}

static void write_dropped(FILE *out, const struct quality *quality, double percent)
{
    char first[PART_SIZE], second[PART_SIZE];
    const int column = snprintf(first, sizeof first, "dropped %8" PRId64 "  %5.1f %%  ", quality->dropped,
                                (double)quality->dropped * percent);
    char *const reason = first + column;
    const size_t room = sizeof first - (size_t)column;
    if (quality->unseen) /* the reason is not known from outside */
        snprintf(reason, room, "never on the screen;");
    else
        snprintf(reason, room, "%" PRId64 " aborted, %" PRId64 " skipped, %" PRId64 " late;", quality->aborted,
                 quality->skipped, quality->late);
    snprintf(second, sizeof second, "at most %" PRId64 " in a row", quality->longest_drop_run);
    write_parts(out, first, second, column);
}

static void write_degraded_counts(FILE *out, const struct quality *quality)
{
    char first[PART_SIZE], second[PART_SIZE];
    snprintf(first, sizeof first, "shown without the loop filter %" PRId64 ";", quality->degraded);
    snprintf(second, sizeof second, "%" PRId64 " more may refer to such pictures", quality->drifted);
    write_parts(out, first, second, (int)strlen("shown "));
}

static void write_counts(FILE *out, const struct quality *quality)
{
    const double percent = quality->frames ? 100.0 / (double)quality->frames : 0;
    fprintf(out, "frames  %8" PRId64 "\n", quality->frames);
    fprintf(out, "shown   %8" PRId64 "  %5.1f %%\n", quality->shown,
            (double)quality->shown * percent);
    write_dropped(out, quality, percent);
    if (quality->degraded || quality->drifted)
        write_degraded_counts(out, quality);
    if (!isnan(quality->longest_freeze_ms))
        fprintf(out, "longest time without a new picture %.0f ms\n", quality->longest_freeze_ms);
}

static void write_windows(FILE *out, const struct loss_windows *windows)
{
    const struct window *const window = &windows->window;
    if (window->y <= 0)
        return;
    char first[PART_SIZE], second[PART_SIZE];
    snprintf(first, sizeof first, "window  %d/%d: %" PRId64 " lost pictures violate it;", window->x, window->y,
             windows->violations_sliding);
    snprintf(second, sizeof second, "in aligned windows, as those of DWCS, %" PRId64, windows->violations_aligned);
    write_parts(out, first, second, (int)strlen("window  "));
}

static void write_rmse_row(FILE *out, const char *name, double rmse_8bit)
{
    fprintf(out, "  %-6s %12.1f %12.3f\n", name, rmse_q16(rmse_8bit), rmse_8bit);
}

static void write_degraded(FILE *out, const struct quality *quality)
{
    if ((!quality->degraded && !quality->drifted) || isnan(quality->degraded_rmse_8bit))
        return;
    fprintf(out, "The sum has %.1f (16 bit) of pictures shown without the loop filter,\n"
            "and %.1f of drift: of those that refer to such pictures.\n",
            rmse_q16(quality->degraded_rmse_8bit), rmse_q16(quality->drifted_rmse_8bit));
}

static void write_rmse(FILE *out, const struct report *report)
{
    const struct spread *const rmse = &report->quality->rmse_8bit;
    if (report->quality->before_first)
        fprintf(out, "%" PRId64 " dropped before anything was on the screen: compared with black\n",
                report->quality->before_first);
    if (isnan(report->quality->degraded_rmse_8bit))
        fputs("what leaving out the loop filter changed is not known:\n"
              "the film without stamps does not show it\n", out);
    if (!rmse->count && !report->quality->rmse_sum_8bit)
        return;
    char how[CONVERSION_SIZE];
    fprintf(out, "\nRMSE of the dropped pictures: each is the difference between the picture that\n"
            "should have been on the screen and the last picture shown before it\n(%s)\n",
            rgb_converter_description(report->converter, how, sizeof how));
    fprintf(out, "         %12s %12s\n", "16-bit units", "8-bit units");
    write_rmse_row(out, "sum", report->quality->rmse_sum_8bit);
    if (rmse->count) {
        write_rmse_row(out, "mean", rmse->mean);
        write_rmse_row(out, "median", rmse->median);
        write_rmse_row(out, "p90", rmse->p90);
    }
    write_degraded(out, report->quality);
}

/* Rounds as it is printed: printf would make -0.0 of -0.04, but the sum of -0.0 and 0.0 has no sign. */
static double without_tiny_sign(double ms)
{
    return round(ms * 10) / 10 + 0.0;
}

static void write_skew(FILE *out, const struct spread *skew_ms)
{
    if (skew_ms->count)
        fprintf(out, "\nA-V of the shown pictures (> 0: the video is late):\n"
                "  mean %.1f ms, s.d. %.1f ms, p99 %.1f ms\n",
                without_tiny_sign(skew_ms->mean), skew_ms->sd, without_tiny_sign(skew_ms->p99));
}

/* Most of a run is in the best grade; what is not is shown with its share. */
static void write_lip_sync(FILE *out, const struct lip_sync_time *time)
{
    if (!lip_sync_time_is_known(time))
        return;
    fputs("Lip synchronisation, parts of the time:\n ", out);
    for (int grade = 0; grade < LIP_SYNC_GRADES; grade++)
        fprintf(out, " %s %.1f %%%s", lip_sync_name((enum lip_sync)grade), 100 * time->part[grade],
                grade + 1 < LIP_SYNC_GRADES ? "," : ";\n");
    fputs("  by ITU-R BT.1359:", out);
    for (int grade = 0; grade < LIP_SYNC_GRADES; grade++)
        fprintf(out, " %s %.1f %%%s", lip_sync_itu_name((enum lip_sync_itu)grade), 100 * time->itu_part[grade],
                grade + 1 < LIP_SYNC_GRADES ? "," : "\n");
}

int report_write_text(FILE *out, const struct report *report)
{
    fprintf(out, "%s, a run of %s\n\n", report->dir, report->media_path);
    write_counts(out, report->quality);
    write_windows(out, report->windows);
    write_rmse(out, report);
    write_skew(out, &report->quality->skew_ms);
    write_lip_sync(out, &report->quality->lip_sync);
    return ferror(out) ? -EIO : 0;
}

static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* Without drops the error is 0, so that tables of many runs have numbers everywhere. */
static json_t *q16_or_zero(double rmse_8bit)
{
    return json_real(isnan(rmse_8bit) ? 0 : rmse_q16(rmse_8bit));
}

/* Adds the parts of the time in each grade of lip_sync.h to the summary. Returns the summary, or NULL without memory. */
static json_t *with_lip_sync(json_t *summary, const struct lip_sync_time *time)
{
    int failed = !summary;
    for (int grade = 0; grade < LIP_SYNC_GRADES && !failed; grade++) {
        char name[KEY_SIZE], itu_name[KEY_SIZE];
        snprintf(name, sizeof name, "lip_sync_%s", lip_sync_name((enum lip_sync)grade));
        snprintf(itu_name, sizeof itu_name, "lip_sync_itu_%s", lip_sync_itu_name((enum lip_sync_itu)grade));
        failed = json_object_set_new(summary, name, number_or_null(time->part[grade])) ||
                 json_object_set_new(summary, itu_name, number_or_null(time->itu_part[grade]));
    }
    if (failed)
        json_decref(summary);
    return failed ? NULL : summary;
}

/* Adds the violations of the window to the summary. Returns the summary, or NULL without memory. */
static json_t *with_windows(json_t *summary, const struct loss_windows *windows)
{
    const struct window *const window = &windows->window;
    const bool asked = window->y > 0;
    const int failed =
        !summary ||
        json_object_set_new(summary, "window", asked ? json_sprintf("%d/%d", window->x, window->y) : json_null()) ||
        json_object_set_new(summary, "violations_sliding", asked ? json_integer(windows->violations_sliding) : json_null()) ||
        json_object_set_new(summary, "violations_aligned", asked ? json_integer(windows->violations_aligned) : json_null());
    if (failed)
        json_decref(summary);
    return failed ? NULL : summary;
}

static json_t *summary_json(const struct quality *quality)
{
    const double fraction =
        quality->frames ? (double)quality->dropped / (double)quality->frames : 0;
    json_t *const summary = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, "
                     "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
                     "frames", (json_int_t)quality->frames,
                     "shown", (json_int_t)quality->shown,
                     "dropped", (json_int_t)quality->dropped,
                     "aborted", (json_int_t)quality->aborted,
                     "skipped", (json_int_t)quality->skipped,
                     "late", (json_int_t)quality->late,
                     "unseen", (json_int_t)quality->unseen,
                     "degraded", (json_int_t)quality->degraded,
                     "drifted", (json_int_t)quality->drifted,
                     "dropped_fraction", fraction,
                     "rmse_q16_sum", q16_or_zero(quality->rmse_sum_8bit),
                     "rmse_q16_degraded", number_or_null(rmse_q16(quality->degraded_rmse_8bit)),
                     "rmse_q16_drifted", number_or_null(rmse_q16(quality->drifted_rmse_8bit)),
                     "rmse_q16_mean", q16_or_zero(quality->rmse_8bit.mean),
                     "rmse_q16_median", q16_or_zero(quality->rmse_8bit.median),
                     "rmse_q16_p90", q16_or_zero(quality->rmse_8bit.p90),
                     "skew_ms_mean", number_or_null(quality->skew_ms.mean),
                     "skew_ms_sd", number_or_null(quality->skew_ms.sd),
                     "skew_ms_p99", number_or_null(quality->skew_ms.p99),
                     "longest_drop_run", (json_int_t)quality->longest_drop_run,
                     "longest_freeze_ms", number_or_null(quality->longest_freeze_ms));
    return with_lip_sync(summary, &quality->lip_sync);
}

static json_t *compared_json(const struct report *report)
{
    char how[CONVERSION_SIZE];
    const bool any = report->converter->width > 0;
    return json_pack("{s:I, s:I, s:o, s:b, s:s}",
                     "drops", (json_int_t)report->quality->rmse_8bit.count,
                     "before_first", (json_int_t)report->quality->before_first,
                     "as", any ? json_string(rgb_converter_description(report->converter, how, sizeof how)) : json_null(),
                     "unstamped", report->unstamped,
                     "ideal_decoder", av_version_info());
}

int report_write_json(FILE *out, const struct report *report)
{
    json_t *const json = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:O?, s:o, s:o}",
                                   "format", 1,
                                   "version", PROGRAM_VERSION,
                                   "commit", DLEX_COMMIT,
                                   "record", report->dir,
                                   "media", report->media_path,
                                   "media_sha256", report->run->media_sha256,
                                   "options", json_object_get(report->run->json, "options"),
                                   "compared", compared_json(report),
                                   "summary", with_windows(summary_json(report->quality), report->windows));
    if (!json)
        return -ENOMEM;
    const int ret = json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) ? -EIO : 0;
    fputc('\n', out);
    json_decref(json);
    return ret;
}

static void write_drop(FILE *out, const struct drop *drop)
{
    const struct frame_record *const row = drop->row;
    fprintf(out, "%" PRId64 ",%" PRId64 ",%s,", row->index, row->pts_ns,
            verdict_name((enum verdict)row->verdict));
    if (drop->shown)
        fprintf(out, "%" PRId64, drop->shown->index);
    fprintf(out, ",%.4f,%.6f\n", rmse_q16(drop->rmse_8bit), drop->rmse_8bit);
}

int report_write_csv(FILE *out, const struct report *report)
{
    fputs("index,pts_ns,verdict,shown_index,rmse_q16,rmse_8bit\n", out);
    for (int64_t i = 0; i < report->drop_count; i++)
        write_drop(out, &report->drops[i]);
    return ferror(out) ? -EIO : 0;
}
