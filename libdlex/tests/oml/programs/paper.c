/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The listings of the paper (seed 000, section 5.2), with something to decode. As printed, they do not
 * compile with any library: d_old is not a pointer there, and the finally part of the last listing reads
 * p_obj, which is not volatile. The times are chosen so that the program also works on a busy machine.
 */
#include <stdio.h>
#include <stdlib.h>

typedef struct { int number; long next_frame_pts; } enc_frame_t; // An encoded/compressed frame
typedef struct { int number; } dec_frame_t;                      // A decoded frame
typedef struct { int next; } stream_t;

#include <oml_exceptions.h>
#include <oml_exceptions_namespace.h>

define_exception(ENoMemoryException) extends(EException);

static int frames_held;

static dec_frame_t *NewFrame(void) {
  frames_held++;
  return calloc(1, sizeof(dec_frame_t));
}

static void ReleaseFrame(dec_frame_t *d) {
  if (d)
    frames_held--;
  free(d);
}

static void compute(void) {
  for (volatile long i = 0;; i++)
    ;
}

static void AudioDecoder(enc_frame_t *f, dec_frame_t *d) {
  d->number = f->number;
}

/* Every third frame needs more CPU time than its WCET. */
static void VideoDecoder(enc_frame_t *f, dec_frame_t *d) {
  if (f->number % 3 == 2)
    compute();
  d->number += 100;
}

static void ImagePostProcessing(dec_frame_t *d) {
  if (d->number == 103)
    compute();
}

static enc_frame_t *StreamParser(stream_t *s) {
  static enc_frame_t f;
  f.number = s->next++;
  f.next_frame_pts = f.number == 3 ? 100000 : 60000000;
  return &f;
}

// If cannot meet the 12ms WCET, then raise exception
static dec_frame_t *FrameDecoder(enc_frame_t *f) {
  dec_frame_t *d = NewFrame();
  try_within_wcet(12000) {
    AudioDecoder(f, d);
    VideoDecoder(f, d);
  }
  handle
    when (ex_wcet_violation e) {
      printf("%s\n", e->name);
      ReleaseFrame(d);
      raise(e);
    }
  end;

  return d;
}

static void Decoder(stream_t *s) {
  enc_frame_t *f;                        // Encoded frame to be decoded
  dec_frame_t *volatile d, *volatile d_old = NewFrame(); // Decoded and previously decoded frame
  dec_frame_t *volatile v;               // Frame to be displayed

  while (s->next < 5) {
    f = StreamParser(s);
    d = NULL;
    try_within_rel(f->next_frame_pts) {
      d = FrameDecoder(f);
      ImagePostProcessing(d);
      v = d;
    }
    handle
      when (ex_deadline_violation) {
        puts("too late");
        v = d_old;
      }
      when (ex_timing_constraint_violation e) {
        puts("too hard");
        v = d_old;
      }
    end;
    printf("shown: %d\n", v->number);
    if (d) {
      ReleaseFrame(d_old);
      d_old = d;
    }
  }
  ReleaseFrame(d_old);
  printf("%d frames held\n", frames_held);
}

static void with_object(long next_dl, size_t size) {
  int *volatile p_obj = NULL;
  try_within_rel(next_dl) {
    try_within_disable();
    p_obj = size < 1000 ? malloc(size) : NULL;
    if (p_obj == NULL)
      throw(ENoMemoryException);
    *p_obj = 1;                          /* Constructor */
    try_within_enable();
    compute();
  } finally {
    /* Free allocated resources */
    if (p_obj != NULL) {
      puts("destructor");
      free(p_obj);
      p_obj = NULL;
    }
  }
  handle
    when (ex_deadline_violation) {
      puts("recovery");
    }
    when (ENoMemoryException)
      puts("no memory");
  handle_end;
}

/* Section 6.4, with the names of section 6.3 for the protected sections. */
static void measurements(void) {
  static const Exception *caught;
  if (try_within_rmng_time() != INT64_MAX || try_within_expr_delay() != 0)
    puts("nothing was constrained yet");
  try_within_rel(1000000) {
    within_disable();
    const int64_t left = try_within_rmng_time();
    puts(left > 0 && left <= 1000000 ? "time remaining" : "no time remaining");
    within_enable();
    compute();
  }
  handle
    when (EException e) {
      caught = e;
    }
  end;
  const int64_t latency = try_within_expr_latency();
  const int64_t delay = try_within_expr_delay();
  printf("%s\n", caught->name);
  puts(latency >= 0 && delay >= latency ? "latency, and the delay since" : "no latency");
}

static void on_signal(int number) {
  puts(number == SIGUSR2 ? "a signal is raised as ever" : "another signal");
}

int main(void) {
  stream_t s = { 0 };
  measurements();
  Decoder(&s);
  with_object(200000, sizeof(int));
  with_object(200000, 1000);
  signal(SIGUSR2, on_signal);
  return raise(SIGUSR2);
}
