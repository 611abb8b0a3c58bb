/* Both sides send at once, one message or two: copied in by chunks, each with a flag, and copied out. */
#include "copies.h"

ALWAYS_INLINE struct word *filled(struct pair *p, int from, int64_t number) {
    return p->flag + 4 + from * (1 + SLOTS) + number % SLOTS;
}

/* In turn: each side writes where it has read last, so that the other side has finished with it. Else two
 * rounds do not share memory: a side goes on when the other has sent, not yet received. */
ALWAYS_INLINE char *place(struct pair *p, int from, int message) {
    int64_t area = p->how.in_turn ? from + p->turn : from;
    int64_t part = p->how.in_turn ? 0 : p->turn;
    return p->area[area & 1] + ((part & 1) * 2 + message) * (AREA / 4);
}

ALWAYS_INLINE long part(const struct pair *p, long at) {
    return p->bytes - at < p->how.chunk ? p->bytes - at : p->how.chunk;
}

ALWAYS_INLINE void send_chunk(struct pair *p, int message, long at) {
    int64_t number = p->chunks[p->side]++;
    copy_bytes(p->how.copy, place(p, p->side, message) + at, p->out + at, part(p, at));
    publish(filled(p, p->side, number), number + 1);
}

ALWAYS_INLINE void receive_chunk(struct pair *p, int message, long at) {
    int other = 1 - p->side;
    int64_t number = p->chunks[other]++;
    await(p, filled(p, other, number), number + 1);
    copy_bytes(p->how.copy == STREAM ? CALL : p->how.copy, p->into + at,
               place(p, other, message) + at, part(p, at));
}

/* Here `slots` means that all is sent before anything is received. */
ALWAYS_INLINE void shift(struct pair *p, int messages) {
    p->turn++;
    for (int message = 0; message < messages; message++)
        for (long at = 0; at < p->bytes; at += p->how.chunk) {
            send_chunk(p, message, at);
            if (!p->how.slots)
                receive_chunk(p, message, at);
        }
    for (int message = 0; message < messages && p->how.slots; message++)
        for (long at = 0; at < p->bytes; at += p->how.chunk)
            receive_chunk(p, message, at);
}

static void shifts(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times; i++)
        shift(p, 1);
}

static void shifts_of_two(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times; i++)
        shift(p, 2);
}

int shift_choices(const struct pair *p, struct choice *list, int messages) {
    int count = 0;
    for (long chunk = 16384; chunk <= 1048576; chunk *= 4) {
        long chunks = (p->bytes + chunk - 1) / chunk * messages;
        if (chunks > SLOTS / 2)
            continue;
        static const enum copy copies[] = {CALL, MOVSB, WORDS, STREAM};
        for (int more = 0; more < 32; more++) {
            struct choice choice = {messages == 2 ? shifts_of_two : shifts, .pause = more & 1,
                                    .in_turn = more >> 1 & 1, .slots = more >> 2 & 1,
                                    .copy = copies[more >> 3], .chunk = chunk, .parts = 1};
            int is_short = p->bytes <= 64;
            if (choice.copy == WORDS ? !is_short : choice.copy == STREAM && is_short)
                continue;
            if (!choice.pause && !is_short) /* PAUSE matters for short messages only */
                continue;
            snprintf(choice.name, sizeof choice.name, "%ld chunks%s%s%s, %s", chunks,
                     choice.slots ? ", all in first" : "", choice.in_turn ? ", in turn" : "",
                     choice.pause ? ", pause" : "", copy_names[choice.copy]);
            list[count++] = choice;
        }
        if (chunk >= p->bytes)
            break;
    }
    return count;
}

static void barriers(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times; i++) {
        publish(&p->flag[p->side], ++p->turn);
        await(p, &p->flag[1 - p->side], p->turn);
    }
}

int barrier_choices(struct choice *list) {
    for (int pause = 0; pause < 2; pause++) {
        list[pause] = (struct choice){barriers, .pause = pause, .parts = 1};
        snprintf(list[pause].name, sizeof list[pause].name, "%s", pause ? "pause" : "plain");
    }
    return 2;
}
