/* One copy from the sender's memory to the receiver's, by the kernel: the receiver reads all of it,
 * or half of it while the sender writes the other half.
 */
#define _GNU_SOURCE
#include "pair.h"
#include <sys/uio.h>

int transfer(struct pair *p, int reads, long first, long bytes) {
    struct iovec into = {p->into + p->at + first, bytes}, out = {p->out + p->at + first, bytes};
    ssize_t moved = reads ? process_vm_readv(p->other, &into, 1, &out, 1, 0)
                          : process_vm_writev(p->other, &out, 1, &into, 1, 0);
    return moved == bytes;
}

static void must(int moved) {
    if (moved)
        return;
    perror("floor: process_vm_readv or process_vm_writev");
    exit(1);
}

ALWAYS_INLINE void send_whole(struct pair *p) {
    publish(&p->flag[p->side], p->turn);
}

ALWAYS_INLINE void receive_whole(struct pair *p) {
    await(p, &p->flag[1 - p->side], p->turn);
    must(transfer(p, 1, 0, p->bytes));
}

static void whole(struct pair *p, int64_t times) {
    trips(p, times, send_whole, receive_whole);
}

ALWAYS_INLINE void send_half(struct pair *p) {
    publish(&p->flag[p->side], p->turn);
    must(transfer(p, 0, p->bytes / 2, p->bytes - p->bytes / 2));
    publish(&p->flag[2 + p->side], p->turn);
}

ALWAYS_INLINE void receive_half(struct pair *p) {
    await(p, &p->flag[1 - p->side], p->turn);
    must(transfer(p, 1, 0, p->bytes / 2));
    await(p, &p->flag[2 + 1 - p->side], p->turn);
}

static void half_each(struct pair *p, int64_t times) {
    trips(p, times, send_half, receive_half);
}

/* Whether the kernel lets one process read the other. */
static int allowed(const struct pair *p) {
    char byte;
    struct iovec here = {&byte, 1}, there = {p->out, 1};
    return process_vm_readv(p->other, &here, 1, &there, 1, 0) == 1;
}

int single_choices(const struct pair *p, struct choice *list, int halves) {
    *list = (struct choice){halves ? half_each : whole, .pause = 1};
    return allowed(p);
}

/* Both sides read `messages` messages at once; neither continues before both have finished. */
ALWAYS_INLINE void shift(struct pair *p, int messages) {
    publish(&p->flag[p->side], ++p->turn);
    await(p, &p->flag[1 - p->side], p->turn);
    for (int message = 0; message < messages; message++)
        must(transfer(p, 1, 0, p->bytes));
    publish(&p->flag[2 + p->side], p->turn);
    await(p, &p->flag[2 + 1 - p->side], p->turn);
}

static void shifts(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times; i++)
        shift(p, 1);
}

static void shifts_of_two(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times; i++)
        shift(p, 2);
}

int single_shift_choices(const struct pair *p, struct choice *list, int messages) {
    *list = (struct choice){messages == 2 ? shifts_of_two : shifts, .pause = 1, .parts = 1};
    return allowed(p);
}

/* Side 0 writes private memory of side 1. */
static void written_puts(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times && p->side == 0; i++)
        must(transfer(p, 0, 0, p->bytes));
}

int single_put_choices(const struct pair *p, struct choice *list) {
    *list = (struct choice){written_puts, .parts = 1, .one_sided = 1, .name = "process_vm_writev"};
    return allowed(p);
}
