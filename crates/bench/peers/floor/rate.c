/* A window of words from side 0 to side 1, each in a cache line with its number; then one word back. */
#include "pair.h"

#define WINDOW 64

/* The slot's number, and 8 B behind it. */
struct slot {
    _Alignas(LINE) _Atomic int64_t number;
    _Atomic int64_t payload;
};

ALWAYS_INLINE void put(struct pair *p, struct slot *slot, int k) {
    atomic_store_explicit(&slot->payload, ((int64_t *)p->out)[k], memory_order_relaxed);
    atomic_store_explicit(&slot->number, p->turn, memory_order_release);
}

ALWAYS_INLINE void take(struct pair *p, struct slot *slot, int k) {
    await(p, (struct word *)slot, p->turn);
    ((volatile int64_t *)p->into)[k] = atomic_load_explicit(&slot->payload, memory_order_relaxed);
}

static void windows(struct pair *p, int64_t times) {
    struct slot *slots = (struct slot *)p->area[0], *answer = (struct slot *)p->area[1];
    for (int64_t i = 0; i < times; i++) {
        p->turn++;
        if (p->side == 0) {
            for (int k = 0; k < WINDOW; k++)
                put(p, &slots[k], k);
            take(p, answer, 0);
        } else {
            for (int k = 0; k < WINDOW; k++)
                take(p, &slots[k], k);
            put(p, answer, 0);
        }
    }
}

int rate_choices(struct choice *list) {
    for (int pause = 0; pause < 2; pause++) {
        list[pause] = (struct choice){windows, .pause = pause, .parts = WINDOW};
        snprintf(list[pause].name, sizeof list[pause].name, "%s", pause ? "pause" : "plain");
    }
    return 2;
}
