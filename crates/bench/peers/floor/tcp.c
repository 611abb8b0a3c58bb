/* A message by write and read on one TCP connection over the loopback device: whole or in pieces, with
 * the kernel's default buffers, or with buffers that stay in the caches.
 */
#include "pair.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#define SMALL (256 << 10) /* the smaller socket buffer; the kernel doubles it */

static int connections[2]; /* the first tuned by the kernel, the second with a buffer of SMALL */

static void must(int holds) {
    if (holds)
        return;
    perror("floor: tcp");
    exit(1);
}

/* One end of a connection: side 0 listens, side 1 connects. */
static int connected(struct pair *p, int buffer) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int end = socket(AF_INET, SOCK_STREAM, 0), listener = end, on = 1;
    must(end >= 0);
    if (p->side == 0) {
        must(!bind(listener, (struct sockaddr *)&at, size) && !listen(listener, 1));
        must(!getsockname(listener, (struct sockaddr *)&at, &size));
    }
    at.sin_port = agree(p, at.sin_port);
    if (p->side == 0) {
        end = accept(listener, NULL, NULL);
        close(listener);
    } else {
        must(!connect(end, (struct sockaddr *)&at, size));
    }
    must(end >= 0 && !setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    must(!buffer || !setsockopt(end, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer));
    return end;
}

/* Transfers part of `left` bytes; polls, since sleeping takes long. */
static long moved(ssize_t count) {
    must(count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)));
    return count > 0 ? count : 0;
}

ALWAYS_INLINE void send_tcp(struct pair *p) {
    int end = connections[p->how.slots];
    for (long at = 0; at < p->bytes;) {
        long left = p->bytes - at, piece = left < p->how.chunk ? left : p->how.chunk;
        at += moved(send(end, p->out + p->at + at, piece, MSG_DONTWAIT | MSG_NOSIGNAL));
    }
}

ALWAYS_INLINE void receive_tcp(struct pair *p) {
    int end = connections[p->how.slots];
    for (long at = 0; at < p->bytes;)
        at += moved(recv(end, p->into + p->at + at, p->bytes - at, MSG_DONTWAIT));
}

static void messages(struct pair *p, int64_t times) {
    trips(p, times, send_tcp, receive_tcp);
}

int tcp_choices(struct pair *p, struct choice *list) {
    if (!connections[0]) {
        connections[0] = connected(p, 0);
        connections[1] = connected(p, SMALL);
    }
    int count = 0;
    for (int small = 0; small < 2; small++)
        for (long piece = 64l << 10; piece <= 4l << 20; piece *= 4) {
            struct choice *choice = &list[count++];
            *choice = (struct choice){messages, .slots = small, .chunk = piece};
            snprintf(choice->name, sizeof choice->name, "pieces of %ld KiB%s", piece >> 10,
                     small ? ", small buffer" : "");
            if (piece >= p->bytes)
                break;
        }
    return count;
}
