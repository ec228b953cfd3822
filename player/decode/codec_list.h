/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list that --codecs prints. */
#ifndef PLAYER_CODEC_LIST_H
#define PLAYER_CODEC_LIST_H

#include <stdio.h>

/*
 * Prints a table of the codecs of which pictures can be given up: which ones, how, and which codec threads the decoder has.
 * Ways and threads are those of the decoders in this build; a codec without a decoder says so.
 */
void codec_list_print(FILE *out);

#endif
