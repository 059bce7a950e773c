package main

import (
	"context"
	"flag"

	"k8s.io/client-go/tools/clientcmd"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/objects"
)

func apply(args []string) error {
	fs := flag.NewFlagSet("apply", flag.ExitOnError)
	s, err := parseState(fs, args)
	if err != nil {
		return err
	}
	pid, err := s.PID()
	if err != nil {
		return err
	}
	// Outside, the API server's address would be somebody else's.
	if err := enterNetwork(s, pid); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		return err
	}
	return objects.Apply(context.Background(), config, fs.Args())
}
