/* What takes part in the event loop of a program. */
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

/* First member of whatever epoll reports about. */
struct watched {
  void (*on_ready)(struct watched *self, uint32_t events);
};

static int poller;

static void watch(struct watched *self, int fd, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = self};
  epoll_ctl(poller, operation, fd, &event);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
