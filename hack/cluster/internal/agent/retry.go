package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	retryDelay   = 200 * time.Millisecond
	longestRetry = 2 * time.Second
)

// untilItWorks repeats a call that fails because the API server is away. An
// answer of the API server, good or bad, ends it: somebody else was faster.
func (n *Node) untilItWorks(ctx context.Context, what string, call func() error) {
	for delay := retryDelay; ctx.Err() == nil; delay = min(2*delay, longestRetry) {
		err := call()
		var answer apierrors.APIStatus
		if err == nil || errors.As(err, &answer) && !apierrors.IsServerTimeout(err) && !apierrors.IsInternalError(err) {
			return
		}
		fmt.Printf("%s: %v\n", what, err)
		sleep(ctx, delay)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
