package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// tailLines is how much of the compiler's output a failure shows.
const tailLines = 30

// buildOutput reads what `go build -v` prints. It counts the packages and
// modules named, and keeps the end of everything else for an error message.
type buildOutput struct {
	mu       sync.Mutex
	partial  []byte
	packages int
	modules  int
	tail     []string
}

func (o *buildOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, complete := bytes.Cut(o.partial, []byte("\n"))
		if !complete {
			return len(p), nil
		}
		o.line(string(line))
		o.partial = rest
	}
}

func (o *buildOutput) line(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		o.modules++
	case line != "" && !strings.ContainsAny(line, " \t:#"):
		// Nothing but an import path: -v names a package as it is compiled.
		o.packages++
	default:
		o.tail = append(o.tail, line)
		if len(o.tail) > tailLines {
			o.tail = o.tail[1:]
		}
	}
}

// summary is the state of things for a progress line.
func (o *buildOutput) summary() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := fmt.Sprintf("%d packages compiled", o.packages)
	if o.modules > 0 {
		text = fmt.Sprintf("%d modules downloaded, %s", o.modules, text)
	}
	return text
}

// explain is what to append to an error: the end of the output, and a hint
// where its reason is not the code.
func (o *buildOutput) explain() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		o.line(string(o.partial))
		o.partial = nil
	}
	if len(o.tail) == 0 {
		return ""
	}
	text := strings.Join(o.tail, "\n    ")
	hint := ""
	if strings.Contains(text, "no space left on device") {
		hint = "\nThe disk is full. " + diskNeeds
	}
	return "; the end of its output:\n    " + text + hint
}

const diskNeeds = "A first build needs about 7 GB in Go's caches (go env GOCACHE GOMODCACHE) and the user's cache directory."
