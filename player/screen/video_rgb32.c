/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_rgb32.h"

#include <libavutil/common.h>
#include <libavutil/cpu.h>

enum { STEP = 32, BYTES_PER_PIXEL = 4 };

/* Rounds a number with 16 bits behind the point to 13 bits. */
static int16_t rounded(int64_t number)
{
    return av_clip_int16((int)((number + 4) >> 3));
}

static void set_coefficients(struct video_rgb32 *rgb32, const struct video_layout *layout)
{
    const int *const table = sws_getCoefficients((int)layout->colorspace); /* for limited range: 255 / 224 */
    const int64_t all = layout->full_range ? 255 : 224, luma = layout->full_range ? 1 << 16 : (255 << 16) / 219;
    *rgb32 = (struct video_rgb32){
        .black = layout->full_range ? 0 : 16 << 3,
        .luma = rounded(luma),
        .red_of_v = rounded(table[0] * INT64_C(224) / all),
        .blue_of_u = rounded(table[1] * INT64_C(224) / all),
        .green_of_u = rounded(-table[2] * INT64_C(224) / all),
        .green_of_v = rounded(-table[3] * INT64_C(224) / all),
    };
}

bool video_rgb32_init(struct video_rgb32 *rgb32, const struct video_layout *layout)
{
    const bool is_420 = layout->format == AV_PIX_FMT_YUV420P || layout->format == AV_PIX_FMT_YUVJ420P;
    if (!is_420 || layout->width < STEP || layout->width % 2)
        return false;
    set_coefficients(rgb32, layout);
#ifdef __x86_64__
    return av_get_cpu_flags() & AV_CPU_FLAG_AVX2;
#else
    return false;
#endif
}

#ifdef __x86_64__
#include <immintrin.h>

#define WITH_AVX2 __attribute__((target("avx2")))

struct line {
    const uint8_t *y;
    const uint8_t *u;
    const uint8_t *v;
    uint8_t *pixels;
};

/* Returns (samples - black) * factor. The product's low 16 bits are dropped, as in swscale: every value is rounded down. */
WITH_AVX2 static inline __m256i scaled(__m256i samples, int16_t black, int16_t factor)
{
    const __m256i eighths = _mm256_slli_epi16(samples, 3);
    return _mm256_mulhi_epi16(_mm256_sub_epi16(eighths, _mm256_set1_epi16(black)), _mm256_set1_epi16(factor));
}

WITH_AVX2 static inline __m256i chroma_at(const uint8_t *samples)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)samples));
}

/* 16 pixels of which every second one lies between them. In each half of a vector, low has the first four and high has the others. */
struct pixels {
    __m256i low;
    __m256i high;
};

WITH_AVX2 static inline struct pixels pixels_of(__m256i luma, __m256i red, __m256i green, __m256i blue)
{
    const __m256i opaque = _mm256_set1_epi16(UINT8_MAX);
    const __m256i blue_red = _mm256_packus_epi16(_mm256_adds_epi16(luma, blue), _mm256_adds_epi16(luma, red));
    const __m256i green_alpha = _mm256_packus_epi16(_mm256_adds_epi16(luma, green), opaque);
    const __m256i blue_green = _mm256_unpacklo_epi8(blue_red, green_alpha);
    const __m256i red_alpha = _mm256_unpackhi_epi8(blue_red, green_alpha);
    return (struct pixels){_mm256_unpacklo_epi16(blue_green, red_alpha), _mm256_unpackhi_epi16(blue_green, red_alpha)};
}

/* Writes 16 bytes of each half of both vectors: first those of the first half if `half` is 0x20, of the second if it is 0x31. */
#define STORE(to, first, second, half) _mm256_storeu_si256((void *)(to), _mm256_permute2x128_si256(first, second, half))

WITH_AVX2 static inline void store(uint8_t *to, struct pixels even, struct pixels odd)
{
    enum { FIRST_HALVES = 0x20, SECOND_HALVES = 0x31, VECTOR = 32 };
    const __m256i a = _mm256_unpacklo_epi32(even.low, odd.low), b = _mm256_unpackhi_epi32(even.low, odd.low);
    const __m256i c = _mm256_unpacklo_epi32(even.high, odd.high), d = _mm256_unpackhi_epi32(even.high, odd.high);
    STORE(to, a, b, FIRST_HALVES);
    STORE(to + VECTOR, c, d, FIRST_HALVES);
    STORE(to + 2 * VECTOR, a, b, SECOND_HALVES);
    STORE(to + 3 * VECTOR, c, d, SECOND_HALVES);
}

WITH_AVX2 static inline void convert_step(const struct video_rgb32 *k, const struct line *line, int x)
{
    enum { NEUTRAL = 128 << 3 };
    const __m256i u = chroma_at(line->u + x / 2), v = chroma_at(line->v + x / 2);
    const __m256i red = scaled(v, NEUTRAL, k->red_of_v), blue = scaled(u, NEUTRAL, k->blue_of_u);
    const __m256i green = _mm256_adds_epi16(scaled(u, NEUTRAL, k->green_of_u), scaled(v, NEUTRAL, k->green_of_v));
    const __m256i y = _mm256_loadu_si256((const void *)(line->y + x));
    const __m256i even = scaled(_mm256_and_si256(y, _mm256_set1_epi16(UINT8_MAX)), k->black, k->luma);
    const __m256i odd = scaled(_mm256_srli_epi16(y, 8), k->black, k->luma);
    store(line->pixels + x * BYTES_PER_PIXEL, pixels_of(even, red, green, blue), pixels_of(odd, red, green, blue));
}

/* The last step begins earlier, so that it ends with the line. */
WITH_AVX2 static void convert_line(const struct video_rgb32 *rgb32, const struct line *line, int width)
{
    for (int x = 0; x <= width - STEP; x += STEP)
        convert_step(rgb32, line, x);
    if (width % STEP)
        convert_step(rgb32, line, width - STEP);
}

void video_rgb32_convert(const struct video_rgb32 *rgb32, const AVFrame *picture, uint8_t *pixels, int pitch)
{
    for (int y = 0; y < picture->height; y++) {
        const struct line line = {
            .y = picture->data[0] + (ptrdiff_t)y * picture->linesize[0],
            .u = picture->data[1] + (ptrdiff_t)(y / 2) * picture->linesize[1],
            .v = picture->data[2] + (ptrdiff_t)(y / 2) * picture->linesize[2],
            .pixels = pixels + (ptrdiff_t)y * pitch,
        };
        convert_line(rgb32, &line, picture->width);
    }
}

#else

void video_rgb32_convert(const struct video_rgb32 *rgb32, const AVFrame *picture, uint8_t *pixels, int pitch)
{
    (void)rgb32, (void)picture, (void)pixels, (void)pitch;
}

#endif
