/*
 * The origin of the benchmarks: HTTP/1.1 with keep-alive on one thread, as cheap as epoll allows, so that what is
 * measured is the proxy. Paths that end in /1k, /100k and /10m choose the size of the body. A request with an Upgrade
 * field is answered 101, after which every byte is sent back. One to /open-loop/PORT/CONNECTIONS/RATE/SECONDS/PATH is
 * answered when such a load (open-loop.h) has ended, with its result, or with nothing when it cannot begin.
 *
 * Usage: origin PORT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "event-loop.h"
#include "open-loop.h"

enum { INPUT = 65536, EVENTS = 256, BACKLOG = 4096 };

struct blob {
  char *bytes;
  size_t length;
};

struct connection {
  struct watched watched;
  int fd;
  int echoes;
  int waits; /* for the end of an open loop */
  int wants_write;
  size_t buffered;
  size_t body_left; /* of the request: skipped */
  const char *out;
  size_t out_left;
  char input[INPUT];
};

static struct blob small, medium, large, switching;
static const char open_loop_path[] = "/open-loop/";

static struct blob make_response(size_t size, const char *type) {
  char head[1024], date[64];
  time_t now = time(NULL);
  strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&now));
  int length = snprintf(head, sizeof head,
                        "HTTP/1.1 200 OK\r\n"
                        "Server: origin\r\n"
                        "Date: %s\r\n"
                        "Content-Type: %s\r\n"
                        "Content-Length: %zu\r\n"
                        "Cache-Control: public, max-age=31536000\r\n"
                        "ETag: \"abc-%zu\"\r\n"
                        "Last-Modified: Sun, 29 Nov 2020 10:00:00 GMT\r\n"
                        "Vary: Accept-Encoding\r\n"
                        "X-Request-Id: 0123456789abcdef0123456789abcdef\r\n\r\n",
                        date, type, size, size);
  struct blob blob = {malloc(length + size), length + size};
  memcpy(blob.bytes, head, length);
  for (size_t i = 0; i < size; i++) blob.bytes[length + i] = 'a' + i % 26;
  return blob;
}

static void set_wants_write(struct connection *c, int wanted) {
  if (c->wants_write == wanted) return;
  c->wants_write = wanted;
  watch(&c->watched, c->fd, EPOLL_CTL_MOD, wanted ? EPOLLOUT : EPOLLIN);
}

/* Answers 0 when the connection has failed. */
static int flush_output(struct connection *c) {
  while (c->out_left > 0) {
    ssize_t n = write(c->fd, c->out, c->out_left);
    if (n < 0) {
      if (errno != EAGAIN) return 0;
      set_wants_write(c, 1);
      return 1;
    }
    c->out += n;
    c->out_left -= n;
  }
  set_wants_write(c, 0);
  return 1;
}

static void consume(struct connection *c, size_t length) {
  c->buffered -= length;
  memmove(c->input, c->input + length, c->buffered);
}

static int serve(struct connection *c);

static void answer_report(struct connection *c, const char *report, size_t length) {
  static char response[1024];
  c->waits = 0;
  c->out = response;
  c->out_left = snprintf(response, sizeof response, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%.*s", length,
                         (int)length, report);
}

static void open_loop_ended(void *context, const char *report, size_t length) {
  struct connection *c = context;
  if (!c) return; /* It has left. */
  answer_report(c, report, length);
  serve(c);
}

static void answer(struct connection *c, char *head, size_t length) {
  char *target = memchr(head, ' ', length);
  char *end = target ? memchr(target + 1, ' ', head + length - target - 1) : NULL;
  const struct blob *blob = &small;
  if (end && end - target > 5 && !memcmp(end - 5, "/100k", 5)) blob = &medium;
  if (end && end - target > 4 && !memcmp(end - 4, "/10m", 4)) blob = &large;
  if (strcasestr(head, "\r\nupgrade:")) {
    blob = &switching;
    c->echoes = 1;
  }
  char *body = strcasestr(head, "\r\ncontent-length:");
  if (body) c->body_left = strtoul(body + 17, NULL, 10);
  if (target && !strncmp(target + 1, open_loop_path, strlen(open_loop_path))) {
    c->waits = 1;
    if (!start_open_loop(target + 1 + strlen(open_loop_path), open_loop_ended, c)) answer_report(c, "", 0);
    return;
  }
  c->out = blob->bytes;
  c->out_left = blob->length;
}

/* Answers 0 when the connection has failed. */
static int serve(struct connection *c) {
  for (;;) {
    if (!flush_output(c)) return 0;
    if (c->out_left > 0 || c->waits) return 1;
    if (c->body_left > 0) {
      size_t skipped = c->body_left < c->buffered ? c->body_left : c->buffered;
      consume(c, skipped);
      c->body_left -= skipped;
      if (c->body_left > 0) return 1;
    }
    if (c->echoes) {
      if (c->buffered == 0) return 1;
      ssize_t n = write(c->fd, c->input, c->buffered);
      if (n < 0 && errno != EAGAIN) return 0;
      if (n > 0) consume(c, n);
      if (c->buffered > 0) {
        set_wants_write(c, 1);
        return 1;
      }
      continue;
    }
    char *end = memmem(c->input, c->buffered, "\r\n\r\n", 4);
    if (!end) return c->buffered < INPUT;
    size_t length = end + 4 - c->input;
    end[2] = 0;
    answer(c, c->input, length - 2);
    consume(c, length);
  }
}

/* Answers 0 when the connection has ended. */
static int receive(struct connection *c, uint32_t events) {
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return 1;
  if (c->buffered == INPUT) return 1;
  ssize_t n = read(c->fd, c->input + c->buffered, INPUT - c->buffered);
  if (n == 0 || (n < 0 && errno != EAGAIN)) return 0;
  if (n > 0) c->buffered += n;
  return 1;
}

static void connection_ready(struct watched *self, uint32_t events) {
  struct connection *c = (struct connection *)self;
  if (receive(c, events) && serve(c)) return;
  if (loop.context == c) loop.context = NULL;
  close(c->fd);
  free(c);
}

struct listener {
  struct watched watched;
  int fd;
};

static void accept_all(struct watched *self, uint32_t events) {
  (void)events;
  for (;;) {
    int fd = accept4(((struct listener *)self)->fd, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *c = calloc(1, sizeof *c);
    c->watched.on_ready = connection_ready;
    c->fd = fd;
    watch(&c->watched, fd, EPOLL_CTL_ADD, EPOLLIN);
  }
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: origin PORT\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  small = make_response(1024, "text/plain");
  medium = make_response(102400, "text/plain");
  large = make_response(10485760, "application/octet-stream");
  /* The accept key belongs to the sample key of RFC 6455 section 1.3, which the load sends. */
  switching.bytes = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
  switching.length = strlen(switching.bytes);

  struct listener listener = {.watched = {accept_all}, .fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
  int on = 1;
  setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(atoi(arguments[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener.fd, (void *)&address, sizeof address) || listen(listener.fd, BACKLOG)) {
    perror("origin");
    return 1;
  }
  poller = epoll_create1(0);
  watch(&listener.watched, listener.fd, EPOLL_CTL_ADD, EPOLLIN);
  for (;;) {
    struct epoll_event events[EVENTS];
    int ready = epoll_pwait2(poller, events, EVENTS, turn_open_loop(), NULL);
    for (int i = 0; i < ready; i++) {
      struct watched *watched = events[i].data.ptr;
      watched->on_ready(watched, events[i].events);
    }
  }
}
