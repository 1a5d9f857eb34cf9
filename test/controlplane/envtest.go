package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// downloadLimit bounds setup-envtest: where the network swallows packets it
// would otherwise hang for longer than a build takes.
const downloadLimit = 90 * time.Second

// envtestDownload returns a function that asks setup-envtest for its binaries,
// or nil where setup-envtest is not installed.
func envtestDownload(v versions, limit time.Duration, log *progress) func(context.Context) (string, error) {
	tool, err := exec.LookPath("setup-envtest")
	if err != nil {
		return nil
	}
	major, minor := v.majorMinor()
	release := major + "." + minor + ".x"
	return func(ctx context.Context) (string, error) {
		log.printf("asking setup-envtest for %s (at most %s)", release, limit)
		return askEnvtest(ctx, tool, release, limit)
	}
}

func askEnvtest(ctx context.Context, tool, release string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, tool, "use", "-p", "path", release)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := runGroup(ctx, cmd)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("no result in %s", limit)
	case err != nil:
		return "", fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
	}
	dir := strings.TrimSpace(stdout.String())
	if dir == "" {
		return "", errors.New("it named no directory")
	}
	return dir, nil
}

// lastLine keeps a report to one line.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
