/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who draws in a window if the user names no renderer. tests/support/with-xvfb runs this program: its X server has OpenGL, which Mesa
 * emulates. Not covered: a real graphics card.
 */
#include "video_card.h"

#include <SDL.h>
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "window_testing.h"

static bool loaded_opengl(void)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[4096];
    bool found = false;
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, "/libGL");
    fclose(maps);
    return found;
}

START_TEST(without_a_card_opengl_is_not_even_loaded)
{
    if (video_card_is_offered()) {
        printf("not tested: this machine has a graphics card\n");
        return;
    }
    struct video_sink *sink = open_window();
    AVFrame *picture = four_colours(WIDTH, HEIGHT, bt709);
    picture->colorspace = AVCOL_SPC_BT709;
    ck_assert_int_eq(video_sink_show(sink, picture), 0);
    ck_assert(!loaded_opengl());
    av_frame_free(&picture);
    video_sink_destroy(&sink);
}
END_TEST

START_TEST(emulated_opengl_is_recognised)
{
    ck_assert_int_eq(SDL_Init(SDL_INIT_VIDEO), 0);
    ck_assert(!video_card_is_emulated()); /* there is no OpenGL yet */
    SDL_Window *const window = SDL_CreateWindow("video_card_test", 0, 0, WIDTH, HEIGHT, SDL_WINDOW_HIDDEN);
    SDL_SetHint(SDL_HINT_RENDER_DRIVER, "opengl");
    SDL_Renderer *const renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_ACCELERATED);
    if (renderer && !video_card_is_offered())
        ck_assert(video_card_is_emulated());
    else
        printf("not tested: there is no emulated OpenGL\n");
    if (renderer)
        SDL_DestroyRenderer(renderer);
    SDL_DestroyWindow(window);
    SDL_Quit();
}
END_TEST

int main(void)
{
    TCase *const tests = window_cases("video_card");
    tcase_add_test(tests, without_a_card_opengl_is_not_even_loaded);
    tcase_add_test(tests, emulated_opengl_is_recognised);
    return suite_run_case("video_card", tests, CK_FORK_GETENV);
}
