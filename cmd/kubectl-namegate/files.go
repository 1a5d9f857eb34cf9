package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/namegate/namegate/internal/lint"
)

// stdinName is how findings call standard input.
const stdinName = "stdin"

// collect finds the inputs that -f names, each once, in the order given; those of a directory by name.
func collect(paths []string, recursive bool, stdin io.Reader) ([]lint.Input, error) {
	if len(paths) == 0 {
		return nil, errors.New("nothing to check: give a file, a directory or - with -f")
	}
	c := collector{recursive: recursive, seen: map[string]bool{}}
	for _, path := range paths {
		if path == "-" {
			c.add(lint.Input{Name: stdinName, Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}, path)
			continue
		}
		if err := c.path(path); err != nil {
			return nil, err
		}
	}
	return c.inputs, nil
}

type collector struct {
	recursive bool
	seen      map[string]bool
	inputs    []lint.Input
}

func (c *collector) add(in lint.Input, key string) {
	if !c.seen[key] {
		c.seen[key] = true
		c.inputs = append(c.inputs, in)
	}
}

func (c *collector) file(path string) {
	path = filepath.Clean(path)
	c.add(lint.Input{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}, path)
}

func (c *collector) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		c.file(path)
		return nil
	}
	before := len(c.seen)
	if err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return c.visit(path, at, entry)
	}); err != nil {
		return err
	}
	if len(c.seen) == before {
		return fmt.Errorf("%s: no .yaml, .yml or .json file in this directory", path)
	}
	return nil
}

// visit takes in one entry of a directory.
func (c *collector) visit(root, at string, entry fs.DirEntry) error {
	hidden := at != root && strings.HasPrefix(entry.Name(), ".")
	switch {
	case entry.IsDir():
		if hidden || at != root && !c.recursive {
			return filepath.SkipDir
		}
	case !hidden && isManifest(at):
		c.file(at)
	}
	return nil
}

// isManifest says whether a path is a file with the name of a manifest, itself or through a symbolic link.
func isManifest(path string) bool {
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path))) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
