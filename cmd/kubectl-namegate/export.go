package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

func newExportCommand() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "export NAME",
		Short: "Print what a Zone publishes, as a master file",
		Long: `Prints the records that a Zone publishes now, with the serial that they have, as an RFC 1035 master
file: one record a line, in canonical order, with whole names and their TTLs. What zone import makes
of it publishes the same records.

It reads the Zone and its ZoneSlices, and prints nothing where they do not belong together.

Exit code 0: printed. 1: there is no such Zone, or it is not published. 2: the cluster could not be asked.`,
		Example: `  kubectl namegate zone export example-org -n dns
  kubectl namegate zone export example-org -n dns | named-checkzone example.org /dev/stdin`,
		Args: arguments(1, 1, "the name of one Zone"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.export(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.add(cmd.Flags(), "of the Zone")
	return cmd
}

// refusal is an answer that is no, in words.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusalf(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// tell prints a refusal and makes the error of a negative answer of it. Other errors stay as they are.
func tell(stderr io.Writer, err error) error {
	var no refusal
	if !errors.As(err, &no) {
		return err
	}
	if _, err := fmt.Fprintln(stderr, "kubectl namegate: "+no.Error()); err != nil {
		return err
	}
	return errNegative
}

func (f *clusterFlags) export(ctx context.Context, name string, stdout, stderr io.Writer) error {
	if !format.Is(format.ObjectName, name) {
		return fmt.Errorf("name %q: give %s", rules.Clip(name), format.Accepts(format.ObjectName))
	}
	namespace, err := f.namespaceName()
	if err != nil {
		return err
	}
	c, err := f.connect()
	if err != nil {
		return err
	}
	soa, entries, err := c.content(ctx, zone.Key{Namespace: namespace, Name: name})
	if err != nil {
		return tell(stderr, err)
	}
	return masterfile.Render(stdout, soa, entries)
}

// What is read while the zone changes may not belong together; it is read again so many times, with pauses that grow.
const (
	exportAttempts = 6
	exportPause    = 100 * time.Millisecond
)

// content reads a zone's records as they belong together.
func (c *cluster) content(ctx context.Context, key zone.Key) (soa zone.Entry, entries []zone.Entry, err error) {
	var torn *tornError
	for attempt := range exportAttempts {
		soa, entries, err = c.contentOnce(ctx, key)
		if !errors.As(err, &torn) {
			return soa, entries, err
		}
		select {
		case <-ctx.Done():
			return soa, nil, ctx.Err()
		case <-time.After(exportPause << attempt):
		}
	}
	return soa, nil, err
}

// tornError says that a ZoneSlice is not the one that the Zone lists: it may have changed between two requests.
type tornError struct{ name, detail string }

func (e *tornError) Error() string {
	return fmt.Sprintf("ZoneSlice %s %s, and goes on to be so: its Zone cannot be exported until the controller has written it anew", e.name, e.detail)
}

func (c *cluster) contentOnce(ctx context.Context, key zone.Key) (zone.Entry, []zone.Entry, error) {
	z, err := c.zone(ctx, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return zone.Entry{}, nil, refusalf("there is no Zone %s in the namespace %s", key.Name, key.Namespace)
	}
	if err != nil {
		return zone.Entry{}, nil, err
	}
	if len(z.Status.Slices) == 0 {
		return zone.Entry{}, nil, unpublished(z)
	}
	soa, err := soaEntry(z)
	if err != nil {
		return zone.Entry{}, nil, err
	}
	slices, err := c.slices(ctx, key)
	if err != nil {
		return zone.Entry{}, nil, err
	}
	var entries []zone.Entry
	for _, digest := range z.Status.Slices {
		add, err := entriesOf(slices, key.Name, digest)
		if err != nil {
			return zone.Entry{}, nil, err
		}
		entries = append(entries, add...)
	}
	return soa, entries, nil
}

// unpublished says why a Zone has no content.
func unpublished(z *zonev1alpha1.Zone) error {
	ready := meta.FindStatusCondition(z.Status.Conditions, zonev1alpha1.ConditionReady)
	if ready == nil {
		return refusalf("the Zone %s is not published yet: no controller has looked at it", z.Name)
	}
	return refusalf("the Zone %s is not published: %s: %s", z.Name, printable(ready.Reason), printable(ready.Message))
}

// soaEntry returns the SOA record with the serial that the Zone has now.
func soaEntry(z *zonev1alpha1.Zone) (zone.Entry, error) {
	if len(z.Status.Entries) == 0 || z.Status.Entries[0].Type != string(zone.TypeSOA) {
		return zone.Entry{}, fmt.Errorf("the status of the Zone %s has no SOA record", z.Name)
	}
	view := z.Status.Entries[0]
	name, err := dnsname.Parse(view.FQDN)
	if err != nil {
		return zone.Entry{}, fmt.Errorf("the SOA record of the Zone %s: %w", z.Name, err)
	}
	return zone.Entry{Name: name, Type: record.Type(view.Type), TTL: uint32(max(view.TTL, 0)), RData: view.RData}, nil
}

// slices reads all ZoneSlices of a Zone, by their names.
func (c *cluster) slices(ctx context.Context, key zone.Key) (map[string]*zonev1alpha1.ZoneSlice, error) {
	out := map[string]*zonev1alpha1.ZoneSlice{}
	selector := labels.SelectorFromSet(labels.Set{zonev1alpha1.ZoneLabel: key.Name}).String()
	err := c.list(ctx, zoneSlices, key.Namespace, selector, func() runtime.Object { return &zonev1alpha1.ZoneSliceList{} }, func(item runtime.Object) {
		if slice, isSlice := item.(*zonev1alpha1.ZoneSlice); isSlice {
			out[slice.Name] = slice
		}
	})
	return out, err
}

// entriesOf finds the slice that a Zone lists, and reads it if it is whole.
func entriesOf(slices map[string]*zonev1alpha1.ZoneSlice, zoneName, digest string) ([]zone.Entry, error) {
	name := zone.SliceName(zoneName, digest)
	slice := slices[name]
	switch {
	case slice == nil:
		return nil, &tornError{name, "is missing"}
	case slice.Zone != zoneName || zone.DigestOf(slice.Shard, slice.Entries) != digest:
		return nil, &tornError{name, "does not have the content that the Zone lists"}
	}
	out := make([]zone.Entry, 0, len(slice.Entries))
	for _, e := range slice.Entries {
		entry, err := zone.EntryOf(e)
		if err != nil {
			return nil, fmt.Errorf("ZoneSlice %s: %w", name, err)
		}
		out = append(out, entry)
	}
	return out, nil
}
