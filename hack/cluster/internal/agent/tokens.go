package agent

import (
	"context"
	"sync"
	"time"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultLifetime, in seconds, is what pods get that name no other.
const defaultLifetime = 3607

// tokens keeps the service account tokens of one pod, by audience.
type tokens struct {
	pod *pod

	mu     sync.Mutex
	issued map[string]issued
}

type issued struct {
	token string
	renew time.Time
}

func newTokens(p *pod) *tokens { return &tokens{pod: p, issued: map[string]issued{}} }

// get returns a token that is good for at least a fifth of its lifetime.
func (t *tokens) get(ctx context.Context, s *v1.ServiceAccountTokenProjection) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.issued[s.Audience]; ok && time.Now().Before(known.renew) {
		return known.token, nil
	}
	lifetime := int64(defaultLifetime)
	if s.ExpirationSeconds != nil {
		lifetime = *s.ExpirationSeconds
	}
	api := t.pod.api
	request := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{
		ExpirationSeconds: &lifetime,
		BoundObjectRef:    &authentication.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: api.Name, UID: api.UID},
	}}
	if s.Audience != "" {
		request.Spec.Audiences = []string{s.Audience}
	}
	answer, err := t.pod.node.Client.CoreV1().ServiceAccounts(api.Namespace).
		CreateToken(ctx, api.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	renew := time.Now().Add(time.Duration(lifetime) * time.Second * 8 / 10)
	t.issued[s.Audience] = issued{answer.Status.Token, renew}
	return answer.Status.Token, nil
}

// old tells whether a token should be replaced.
func (t *tokens) old() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.issued {
		if time.Now().After(known.renew) {
			return true
		}
	}
	return false
}

// forget makes the next get ask for new tokens.
func (t *tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.issued)
}
