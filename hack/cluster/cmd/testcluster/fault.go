package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// faultCommand sends a command to the running cluster, for example
// `fault delay by=2s` or `fault revoke-token namespace=x account=y renew-after=5s`.
func faultCommand(args []string) error {
	fs := flag.NewFlagSet("fault", flag.ExitOnError)
	s, err := parseState(fs, args)
	if err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return fmt.Errorf("no fault given")
	}
	if _, err := s.PID(); err != nil {
		return err
	}
	query := url.Values{}
	for _, setting := range fs.Args()[1:] {
		key, value, _ := strings.Cut(setting, "=")
		query.Set(key, value)
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", s.Control()) },
	}}
	answer, err := client.Post("http://cluster/"+fs.Arg(0)+"?"+query.Encode(), "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}
