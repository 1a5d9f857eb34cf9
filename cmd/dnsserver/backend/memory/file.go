package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/wire"
	"github.com/namegate/namegate/internal/record"
)

// fileVersion of the form below. A file of another version is refused, not guessed at.
const fileVersion = 1

// contents is the JSON of the file.
type contents struct {
	Version int         `json:"version"`
	Records []v1.Record `json:"records"`
}

// load reads the file. No path and no file are no records.
func load(path string) ([]*record.RRset, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c contents
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s is not the record file of this server: %w", path, err)
	}
	if c.Version != fileVersion {
		return nil, fmt.Errorf("%s has version %d; this server reads version %d", path, c.Version, fileVersion)
	}
	sets := make([]*record.RRset, 0, len(c.Records))
	for i, r := range c.Records {
		set, problems := record.Parse(wire.Spec(r))
		if set == nil {
			return nil, fmt.Errorf("%s: records[%d]: %w", path, i, problems.Denied())
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// write replaces the file at once: after a crash at any point there is either the old file or the new one, whole.
func write(path string, sets []*record.RRset) (err error) {
	c := contents{Version: fileVersion, Records: make([]v1.Record, 0, len(sets))}
	for _, set := range sets {
		c.Records = append(c.Records, wire.Record(set, set.Domain, set.Subdomain))
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(append(data, '\n')); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return errors.Join(f.Close(), syncDir(dir))
}

// syncDir makes a rename last through a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
