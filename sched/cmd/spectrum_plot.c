/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectrum_plot.h"

#include <math.h>

static const double from_hz = 10, to_hz = 200;
/* After 4 s, a peak is 0.5 Hz wide at its foot. */
static const double step_hz = 0.1;
static const double tick_hz = 25;

/* In pixels. The picture's width is the plot's and the margins'. */
enum { PLOT_WIDTH = 950, PLOT_HEIGHT = 110, LEFT = 40, RIGHT = 20, TOP = 26, BOTTOM = 26, PANEL_HEIGHT = TOP + PLOT_HEIGHT + BOTTOM };

static double x_of(double hz)
{
    return LEFT + (hz - from_hz) / (to_hz - from_hz) * PLOT_WIDTH;
}

static double y_of(int number, double part)
{
    return number * PANEL_HEIGHT + TOP + (1 - part) * PLOT_HEIGHT;
}

static void write_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            putc(*text, file);
}

void spectrum_plot_begin(FILE *file, int panels)
{
    const int width = LEFT + PLOT_WIDTH + RIGHT, height = panels > 0 ? panels * PANEL_HEIGHT : PANEL_HEIGHT;
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    if (panels <= 0)
        fprintf(file, "<text x=\"%d\" y=\"%d\">no thread had enough jobs</text>\n", LEFT, TOP);
}

static void draw_axes(FILE *file, int number)
{
    const double bottom = y_of(number, 0), top = y_of(number, 1);
    fprintf(file, "<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"#555555\"/>\n", x_of(from_hz), top, bottom, x_of(to_hz));
    for (double hz = tick_hz; hz <= to_hz; hz += tick_hz)
        fprintf(file, "<path d=\"M%.1f %.1fv4\" stroke=\"#555555\"/>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" "
                "font-size=\"10\">%g%s</text>\n", x_of(hz), bottom, x_of(hz), bottom + 15, hz, hz + tick_hz > to_hz ? " Hz" : "");
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"10\">1</text>\n", x_of(from_hz) - 5, top + 4);
}

static void draw_mark(FILE *file, int number, double hz)
{
    if (hz < from_hz || hz > to_hz)
        return;
    fprintf(file, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#d55e00\" stroke-dasharray=\"3 3\"/>\n", x_of(hz), y_of(number, 0),
            y_of(number, 1));
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" fill=\"#d55e00\">%.5g Hz</text>\n", x_of(hz) + 3,
            y_of(number, 1) + 9, hz);
}

void spectrum_plot_panel(FILE *file, int number, const struct spectrum_panel *panel, struct spectrum *spectrum)
{
    const int points = (int)((to_hz - from_hz) / step_hz + 0.5) + 1;
    spectrum_sample(spectrum, panel->times_ns, panel->count, from_hz, step_hz, points);
    fprintf(file, "<text x=\"%d\" y=\"%.1f\">", LEFT, y_of(number, 1) - 8);
    write_text(file, panel->title);
    fputs("</text>\n", file);
    draw_axes(file, number);
    draw_mark(file, number, panel->hz);
    fputs("<polyline fill=\"none\" stroke=\"#0072b2\" points=\"", file);
    for (int k = 0; k < points; k++)
        fprintf(file, "%.1f,%.1f ", x_of(spectrum_hz(spectrum, k)), y_of(number, sqrt(spectrum->power[k]) / (double)panel->count));
    fputs("\"/>\n", file);
}

void spectrum_plot_end(FILE *file)
{
    fputs("</svg>\n", file);
}
