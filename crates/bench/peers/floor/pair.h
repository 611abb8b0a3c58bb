/* Two processes on two processors, with shared memory and private buffers.
 *
 * Both run the same steps; side 0 reads the clock and decides.
 */
#ifndef PAIR_H
#define PAIR_H

#include "../clock.h"
#include <immintrin.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#define LINE 128                  /* a cache line, and the one that is fetched with it */
#define AREA (8l << 20)           /* bytes of shared memory for the messages of one direction */
#define SLOTS 64                  /* at most in a ring */
#define COLD (256l << 20)         /* bytes of each private buffer when messages are out of cache */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A shared word, alone in its cache line. */
struct word {
    _Alignas(LINE) _Atomic int64_t value;
};

/* How bytes are copied. */
enum copy { CALL, MOVSB, WORDS, STREAM };

struct pair;

/* A choice of parameters for sending a message. */
struct choice {
    void (*rounds)(struct pair *, int64_t times);
    int pause;      /* whether waiting executes PAUSE */
    int in_turn;    /* whether both directions use the same memory */
    enum copy copy; /* how bytes are copied out, and in unless they are streamed */
    long gap;       /* bytes from a message's flag to its first byte */
    long chunk;     /* bytes of a slot of the ring */
    int slots;      /* slots of the ring */
    int parts;      /* the reported time is a round divided by this; 0 stands for 2, half a round trip */
    int one_sided;  /* whether side 0 alone writes, and side 1 waits */
    char name[64];
};

struct pair {
    int side;
    pid_t other;
    struct choice how;
    char *area[2];       /* shared memory for messages from side 0, and from side 1 */
    struct word *flag;   /* shared words: two for each side, then the flags of two rings */
    struct word *meet;   /* shared words of `meet` and `agree` */
    char *out, *into;    /* private buffers, at the same address in both processes */
    long bytes, step, room, at; /* a message lies `step` bytes behind the last one, within `room` */
    int rewrite;         /* whether the whole message is written before it is sent */
    unsigned char value; /* the byte written then */
    int64_t turn;        /* messages so far, in both directions */
    int64_t chunks[2];   /* chunks so far, from side 0 and from side 1 */
    int64_t met;
};

/* Forks and pins; `cold` asks for large private buffers. Ends the program when that fails. */
struct pair *make_pair(long largest, int cold);

/* Side 0's `value`, on both sides. */
int64_t agree(struct pair *p, int64_t value);

/* Times the best of some choices; side 0 prints the result. */
void measure_best(struct pair *p, const char *kernel, const char *method, struct choice *choices,
                  int count);

/* Each family of choices for messages of `p->bytes`: their number, at most MOST. */
#define MOST 96
int line_choices(struct choice *list, int lines);
int copy_choices(const struct pair *p, struct choice *list);
int ring_choices(const struct pair *p, struct choice *list);
int single_choices(const struct pair *p, struct choice *list, int halves);
int shift_choices(const struct pair *p, struct choice *list, int messages);
int single_shift_choices(const struct pair *p, struct choice *list, int messages);
int barrier_choices(struct choice *list);
int rate_choices(struct choice *list);
int tcp_choices(struct pair *p, struct choice *list);
int put_choices(struct choice *list);
int single_put_choices(const struct pair *p, struct choice *list);

ALWAYS_INLINE void await(const struct pair *p, struct word *word, int64_t value) {
    while (atomic_load_explicit(&word->value, memory_order_acquire) < value)
        if (p->how.pause)
            _mm_pause();
}

ALWAYS_INLINE void publish(struct word *word, int64_t value) {
    atomic_store_explicit(&word->value, value, memory_order_release);
}

/* Copies between the two processes' private buffers, at the same address in both: from `out` here into
 * `into` there, or with `reads` the other way. Returns whether it could. */
int transfer(struct pair *p, int reads, long first, long bytes);

/* Round trips by a send and a receive function, which the compiler inlines. */
ALWAYS_INLINE void trips(struct pair *p, int64_t times, void send(struct pair *),
                         void receive(struct pair *)) {
    for (int64_t i = 0; i < times; i++) {
        p->value += 2;
        p->at += p->step;
        if (p->at + p->bytes > p->room)
            p->at = 0;
        for (int half = 0; half < 2; half++) {
            p->turn++;
            if (half == p->side) {
                if (p->rewrite)
                    memset(p->out + p->at, p->value + p->side, p->bytes);
                send(p);
            } else {
                receive(p);
            }
        }
    }
}

#endif
