/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "video_card.h"

#include <SDL.h>
#include <string.h>
#include <unistd.h>

bool video_card_is_offered(void)
{
#ifdef __linux__
    /* All drivers of the kernel itself; NVIDIA's own; Windows' card in its Linux; those of telephones. */
    static const char *const devices[] = {"/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/mali0", "/dev/kgsl-3d0"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (access(devices[i], F_OK) == 0)
            return true;
    return false;
#else
    return true;
#endif
}

typedef const unsigned char *(*get_string_function)(unsigned name);

/* mpv does not draw with these either. */
bool video_card_is_emulated(void)
{
    enum { GL_RENDERER_NAME = 0x1F01 };
    static const char *const emulators[] = {"llvmpipe", "softpipe", "Software Rasterizer", "Mesa X11", "SwiftShader"};
    get_string_function get_string = NULL;
    *(void **)&get_string = SDL_GL_GetCurrentContext() ? SDL_GL_GetProcAddress("glGetString") : NULL;
    const char *const name = get_string ? (const char *)get_string(GL_RENDERER_NAME) : NULL;
    for (size_t i = 0; name && i < sizeof emulators / sizeof *emulators; i++)
        if (strstr(name, emulators[i]))
            return true;
    return false;
}
