package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// logs prints what pods or the cluster's own parts wrote; pods that are gone are included.
func logs(args []string) error {
	fs := flag.NewFlagSet("logs", flag.ExitOnError)
	s, err := parseState(fs, args)
	if err != nil {
		return err
	}
	pattern := s.Path("logs/[ce]*.log") // the cluster, its control plane and etcd
	if pod := fs.Arg(0); pod != "" {
		namespace, name, ok := strings.Cut(pod, "/")
		if !ok {
			return fmt.Errorf("%q is not NAMESPACE/POD", pod)
		}
		container := "*"
		if fs.NArg() > 1 {
			container = fs.Arg(1)
		}
		pattern = s.Path("pods/" + namespace + "_" + name + "*/" + container + ".log")
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := printFile(file); err != nil {
			return err
		}
	}
	return nil
}

func printFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	fmt.Printf("==> %s <==\n", path)
	_, err = io.Copy(os.Stdout, file)
	return err
}
