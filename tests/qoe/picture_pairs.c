/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * picture_pairs MEDIA DIR [A_NS B_NS]...: writes the ideal pictures at each pair of time stamps to
 * DIR/N-a.ppm and DIR/N-b.ppm, and prints dlex-qoe's 16-bit RMSE of the pair. test_qoe.py
 * uses it, and compares the same files with ImageMagick.
 */
#include "ideal.h"
#include "rgb_converter.h"

#include <libavutil/mem.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* A PPM file has the high byte first. */
static void write_deep_row(FILE *out, const uint16_t *samples, int count)
{
    for (int i = 0; i < count; i++) {
        fputc(samples[i] >> 8, out);
        fputc(samples[i] & 255, out);
    }
}

static int write_ppm(const struct rgb_picture *picture, const char *dir, int number, char which)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d-%c.ppm", dir, number, which);
    FILE *const out = fopen(path, "wb");
    if (!out)
        return -1;
    fprintf(out, "P6 %d %d %d\n", picture->width, picture->height, picture->is_deep ? UINT16_MAX : UINT8_MAX);
    for (int y = 0; y < picture->height; y++) {
        const uint8_t *const row = picture->pixels + y * picture->stride;
        if (picture->is_deep)
            write_deep_row(out, (const uint16_t *)row, 3 * picture->width);
        else
            fwrite(row, 3, (size_t)picture->width, out);
    }
    return fclose(out);
}

static int fetch(struct ideal *ideal, struct rgb_converter *converter, const char *pts,
                 struct rgb_picture *out)
{
    const AVFrame *picture;
    const int ret = ideal_find(ideal, atoll(pts), &picture);
    return ret ? ret : rgb_convert(converter, picture, out);
}

int main(int argc, char **argv)
{
    struct ideal *ideal = NULL;
    struct rgb_converter converter;
    struct rgb_picture a = {0};
    struct rgb_picture b = {0};
    char why[256] = "usage";
    rgb_converter_init(&converter);
    int ret = argc < 3 ? -1 : ideal_open(&ideal, argv[1], 0, why, sizeof why);
    for (int i = 3; i + 1 < argc && !ret; i += 2) {
        const int number = (i - 3) / 2;
        ret = fetch(ideal, &converter, argv[i], &a) || fetch(ideal, &converter, argv[i + 1], &b) ||
              write_ppm(&a, argv[2], number, 'a') || write_ppm(&b, argv[2], number, 'b');
        if (!ret)
            printf("%.12g\n", rmse_q16(rgb_rmse(&a, &b)));
    }
    if (ret)
        fprintf(stderr, "picture_pairs: %s\n", why);
    av_freep(&a.pixels);
    av_freep(&b.pixels);
    rgb_converter_finish(&converter);
    ideal_close(&ideal);
    return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
