#define _GNU_SOURCE
#include "pair.h"
#include "../content.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FLAGS (4 + 2 * (1 + SLOTS)) /* two words for each side, and those of two rings */
#define SCREEN 3                    /* blocks to try each choice before the best is timed */

static void need(int holds, const char *what) {
    if (holds)
        return;
    perror(what);
    exit(1);
}

static void *map(size_t bytes, int how) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    need(at != MAP_FAILED, "floor: mmap");
    return at;
}

/* Pins this process to the allowed processor number `which`. */
static void pin(int which) {
    cpu_set_t may, one;
    need(!sched_getaffinity(0, sizeof may, &may), "floor: sched_getaffinity");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            need(!sched_setaffinity(0, sizeof one, &one), "floor: sched_setaffinity");
            return;
        }
    fprintf(stderr, "floor: two processors are needed\n");
    exit(1);
}

static void meet(struct pair *p) {
    p->met++;
    publish(&p->meet[p->side], p->met);
    await(p, &p->meet[1 - p->side], p->met);
}

int64_t agree(struct pair *p, int64_t value) {
    if (p->side == 0)
        publish(&p->meet[2], value);
    meet(p);
    int64_t agreed = atomic_load(&p->meet[2].value);
    meet(p);
    return agreed;
}

struct pair *make_pair(long largest, int cold) {
    struct pair *p = calloc(1, sizeof *p);
    need(p != NULL, "floor: calloc");
    size_t room = cold ? COLD : (largest + PAGE) / PAGE * PAGE;
    p->room = room;
    p->area[0] = map(AREA, MAP_SHARED);
    p->area[1] = map(AREA, MAP_SHARED);
    p->flag = map(FLAGS * sizeof(struct word), MAP_SHARED);
    p->meet = map(PAGE, MAP_SHARED);
    p->out = map(room, MAP_PRIVATE);
    p->into = map(room, MAP_PRIVATE);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* needed where only parents may read a process's memory */
    pid_t parent = getpid(), child = fork();
    need(child >= 0, "floor: fork");
    p->side = child == 0;
    if (p->side == 1) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    }
    p->other = p->side == 0 ? child : parent;
    pin(p->side);
    memset(p->out, 0, room);
    memset(p->into, 0, room);
    meet(p);
    return p;
}

/* Finds the repetitions in a block, as the MPI programs do. */
static int64_t warm_up(struct pair *p, int streaks) {
    int64_t times = 1;
    for (int streak = 0; streak < streaks;) {
        int64_t start = now_ns();
        p->how.rounds(p, times);
        if (agree(p, now_ns() - start >= BLOCK_NS)) {
            streak++;
        } else {
            streak = 0;
            times *= 2;
        }
    }
    return times;
}

/* Times blocks, in nanoseconds of a round divided by its parts. */
static void time_blocks(struct pair *p, int64_t times, int blocks, double *ns) {
    int parts = p->how.parts ? p->how.parts : 2;
    for (int block = 0; block < blocks; block++) {
        int64_t begin = now_ns();
        p->how.rounds(p, times);
        ns[block] = (double)(now_ns() - begin) / times / parts;
    }
}

/* Sets a choice and resets all counters. */
static void take_up(struct pair *p, const struct choice *choice) {
    meet(p);
    p->how = *choice;
    p->turn = p->at = p->chunks[0] = p->chunks[1] = 0;
    if (p->side == 0) {
        memset(p->area[0], 0, 64 * LINE);
        memset(p->area[1], 0, 64 * LINE);
        memset(p->flag, 0, FLAGS * sizeof(struct word));
    }
    meet(p);
}

/* Selects the choice with the fastest block among a few blocks each. */
static int best_of(struct pair *p, const struct choice *choices, int count) {
    int best = 0;
    double least = 0;
    for (int i = 0; i < count && count > 1; i++) {
        double ns[SCREEN];
        take_up(p, &choices[i]);
        time_blocks(p, warm_up(p, 1), SCREEN, ns);
        qsort(ns, SCREEN, sizeof ns[0], by_value);
        if (i == 0 || ns[0] < least) {
            best = i;
            least = ns[0];
        }
    }
    return agree(p, best);
}

/* Whether the last message from side `other` has arrived. */
static int arrived(const struct pair *p, int other) {
    if (p->how.one_sided && p->side == 0)
        return 1;
    if (!p->rewrite)
        return are_bytes(p->into + p->at, other, p->bytes);
    int right = 1;
    for (long at = 0; at < p->bytes; at++)
        right &= (unsigned char)p->into[at] == (unsigned char)(p->value + other);
    return right;
}

void measure_best(struct pair *p, const char *kernel, const char *method, struct choice *choices,
                  int count) {
    if (count == 0)
        return;
    for (long at = 0; at == 0 || (p->step && at + p->bytes <= p->room); at += p->step + !p->step)
        write_bytes(p->out + at, p->side, p->bytes, 0);
    int best = best_of(p, choices, count);
    take_up(p, &choices[best]);
    int64_t times = warm_up(p, 3);
    for (long at = 0; at == 0 || (p->step && at + p->bytes <= p->room); at += p->step + !p->step)
        write_bytes(p->into + at, 1 - p->side, p->bytes, 1);
    meet(p);
    double ns[BLOCKS];
    time_blocks(p, times, BLOCKS, ns);
    meet(p);
    int right = arrived(p, 1 - p->side);
    if (p->side == 0) {
        char more[128];
        snprintf(more, sizeof more, "\"method\":\"%s\",\"choice\":\"%s\",", method,
                 choices[best].name);
        print_blocks(kernel, more, 2, p->bytes, times, ns, right);
    } else if (!right) {
        fprintf(stderr, "floor: wrong data, %s, %s, %ld bytes\n", kernel, method, p->bytes);
    }
    meet(p);
}
