/*
 * A unary gRPC server on h2c that answers every call with the same message of 1 KiB and status 0. It does not look at
 * header blocks: the answer does not depend on them, and its own is made of literals that no table remembers.
 *
 * Usage: grpc-origin PORT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  INPUT = 65536,
  OUTPUT = 1 << 20,
  EVENTS = 256,
  BACKLOG = 4096,
  PREFACE = 24,
  FRAME_HEAD = 9,
  MESSAGE = 5 + 1024,
  CREDIT_STEP = 1 << 20
};
enum { DATA = 0, HEADERS = 1, SETTINGS = 4, PING = 6, WINDOW_UPDATE = 8 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

struct connection {
  int fd;
  int greeted;
  int wants_write;
  size_t buffered, queued;
  size_t received; /* bytes of DATA that have not been given back as window */
  unsigned char input[INPUT];
  unsigned char *output;
};

static int poller;
static unsigned char response_head[64], trailers[64], message[MESSAGE];
static size_t response_head_length, trailers_length;

static size_t literal(unsigned char *to, const char *name, const char *value) {
  size_t n = 0;
  to[n++] = 0; /* without indexing, new name: RFC 7541 section 6.2.2 */
  to[n++] = strlen(name);
  n += sprintf((char *)to + n, "%s", name);
  to[n++] = strlen(value);
  n += sprintf((char *)to + n, "%s", value);
  return n;
}

static void frame(struct connection *c, int type, int flags, uint32_t stream, const void *payload, size_t length) {
  if (c->queued + FRAME_HEAD + length > OUTPUT) abort();
  unsigned char *at = c->output + c->queued;
  at[0] = length >> 16, at[1] = length >> 8, at[2] = length, at[3] = type, at[4] = flags;
  at[5] = stream >> 24, at[6] = stream >> 16, at[7] = stream >> 8, at[8] = stream;
  memcpy(at + FRAME_HEAD, payload, length);
  c->queued += FRAME_HEAD + length;
}

static void give_credit(struct connection *c, uint32_t amount) {
  unsigned char increment[4] = {amount >> 24, amount >> 16, amount >> 8, amount};
  frame(c, WINDOW_UPDATE, 0, 0, increment, 4);
}

static void answer(struct connection *c, uint32_t stream) {
  frame(c, HEADERS, END_HEADERS, stream, response_head, response_head_length);
  frame(c, DATA, 0, stream, message, MESSAGE);
  frame(c, HEADERS, END_HEADERS | END_STREAM, stream, trailers, trailers_length);
}

static void take(struct connection *c, const unsigned char *at, size_t length) {
  int type = at[3], flags = at[4];
  uint32_t stream = (at[5] & 127u) << 24 | at[6] << 16 | at[7] << 8 | at[8];
  if (type == SETTINGS && !(flags & ACK)) frame(c, SETTINGS, ACK, 0, "", 0);
  if (type == PING && !(flags & ACK)) frame(c, PING, ACK, 0, at + FRAME_HEAD, length);
  if (type == DATA) {
    c->received += length;
    if (c->received >= CREDIT_STEP) {
      give_credit(c, c->received);
      c->received = 0;
    }
  }
  if ((type == DATA || type == HEADERS) && (flags & END_STREAM)) answer(c, stream);
}

static void greet(struct connection *c) {
  /* SETTINGS_MAX_CONCURRENT_STREAMS: 1000 */
  frame(c, SETTINGS, 0, 0, "\0\3\0\0\3\350", 6);
  give_credit(c, 64 << 20);
  c->greeted = 1;
}

static void read_frames(struct connection *c) {
  size_t at = 0;
  if (!c->greeted) {
    if (c->buffered < PREFACE) return;
    greet(c);
    at = PREFACE;
  }
  while (c->buffered - at >= FRAME_HEAD) {
    const unsigned char *head = c->input + at;
    size_t length = (size_t)head[0] << 16 | head[1] << 8 | head[2];
    if (c->buffered - at < FRAME_HEAD + length) break;
    take(c, head, length);
    at += FRAME_HEAD + length;
  }
  c->buffered -= at;
  memmove(c->input, c->input + at, c->buffered);
}

static void watch(struct connection *c, int wants_write) {
  if (c->wants_write == wants_write) return;
  c->wants_write = wants_write;
  struct epoll_event event = {.events = wants_write ? EPOLLOUT : EPOLLIN, .data.ptr = c};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

/* Answers 0 when the connection has ended. */
static int serve(struct connection *c, uint32_t events) {
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    ssize_t n = read(c->fd, c->input + c->buffered, INPUT - c->buffered);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return 0;
    if (n > 0) c->buffered += n;
    read_frames(c);
  }
  if (c->queued == 0) return 1;
  ssize_t n = write(c->fd, c->output, c->queued);
  if (n < 0 && errno != EAGAIN) return 0;
  if (n > 0) {
    c->queued -= n;
    memmove(c->output, c->output + n, c->queued);
  }
  watch(c, c->queued > 0);
  return 1;
}

static void accept_all(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    c->output = malloc(OUTPUT);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: grpc-origin PORT\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  response_head[0] = 0x88; /* :status 200, RFC 7541 appendix A */
  response_head_length = 1 + literal(response_head + 1, "content-type", "application/grpc");
  trailers_length = literal(trailers, "grpc-status", "0");
  message[3] = 1024 >> 8;
  for (int i = 5; i < MESSAGE; i++) message[i] = 'a' + i % 26;

  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(atoi(arguments[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (void *)&address, sizeof address) || listen(listener, BACKLOG)) {
    perror("grpc-origin");
    return 1;
  }
  poller = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN}, events[EVENTS];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poller, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (!c) {
        accept_all(listener);
      } else if (!serve(c, events[i].events)) {
        close(c->fd);
        free(c->output);
        free(c);
      }
    }
  }
}
