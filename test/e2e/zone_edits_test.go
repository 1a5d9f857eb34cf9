package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// seedVariable names the variable that repeats a run of random edits.
const seedVariable = "E2E_SEED"

// editWorkers edit at the same time, each the names of its own.
const editWorkers = 8

// editRun is a run of random edits of zones, and what the zones are to hold at its end.
type editRun struct {
	namespace string
	domain    string
	seed      uint64
	edits     int
	// pause is the longest one between two edits of one worker.
	pause time.Duration
	// stubborn tries an edit again when nobody answers it: somebody is killed meanwhile.
	stubborn bool

	zones   []*editedZone
	workers []*editor
	made    atomic.Int64
}

// editedZone is a zone of the run.
type editedZone struct {
	name, fqdn string
	ttl        int32
	// sub is the sub-zone whose delegation this one has; nil: none.
	sub *editedZone
	// noNS says that no record gives it an NS record at its apex.
	noNS bool
}

// edited is one Record.
type edited struct {
	object, label, rtype, rdata string
	zone                        *editedZone
	ttl                         *int32
}

// newEditRun creates the zones: two with records for their name servers, one without, and one below the first.
func newEditRun(ctx context.Context, t *testing.T, name string, edits int) *editRun {
	t.Helper()
	r := &editRun{namespace: name, domain: name + ".test.", seed: seed(t), edits: edits, pause: 200 * time.Millisecond}
	(&place{name: name}).addNamespace(ctx, t)
	sub := &editedZone{name: "sub", fqdn: "sub.alpha." + r.domain, ttl: 300}
	r.zones = []*editedZone{
		{name: "alpha", fqdn: "alpha." + r.domain, ttl: 300, sub: sub},
		{name: "beta", fqdn: "beta." + r.domain, ttl: 300},
		{name: "gamma", fqdn: "gamma." + r.domain, ttl: 300, noNS: true},
		sub,
	}
	for w := range editWorkers {
		r.workers = append(r.workers, &editor{
			run: r, number: w, rand: rand.New(rand.NewPCG(r.seed, uint64(w))),
			want: map[string]*edited{},
		})
	}
	for _, z := range r.zones {
		r.createZone(ctx, t, z)
	}
	return r
}

// seed returns the seed of a run, and says how to repeat it.
func seed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("the edits are those of %s=%d", seedVariable, seed)
	return seed
}

func (r *editRun) createZone(ctx context.Context, t *testing.T, z *editedZone) {
	t.Helper()
	b := builder.Zone(r.namespace, z.name).DelegateAll().TTL(z.ttl)
	if z.name == "sub" {
		b = b.Domain("sub").ZoneRef("alpha", "")
	} else {
		b = b.Domain(z.fqdn)
	}
	obj := b.Obj()
	create(ctx, t, obj)
	awaitReady(ctx, t, obj)
	if z.noNS {
		return
	}
	first := r.workers[0]
	for _, e := range []*edited{
		{object: z.name + "-ns", label: "@", rtype: "NS", rdata: "ns1." + z.fqdn, zone: z},
		{object: z.name + "-glue", label: "ns1", rtype: "A", rdata: "192.0.2.53", zone: z},
	} {
		record := r.record(e)
		create(ctx, t, record)
		awaitReady(ctx, t, record)
		first.want[e.object] = e
	}
}

func (r *editRun) record(e *edited) *zonev1alpha1.Record {
	b := builder.Record(r.namespace, e.object).Domain(e.label).ZoneRef(e.zone.name, "").Type(e.rtype).RData(e.rdata)
	if e.ttl != nil {
		b = b.TTL(*e.ttl)
	}
	return b.Obj()
}

func (r *editRun) origins() []string {
	var all []string
	for _, z := range r.zones {
		all = append(all, z.fqdn)
	}
	return all
}

// run makes the edits, and goes on until the channel is closed if that is later.
func (r *editRun) run(ctx context.Context, t *testing.T, until <-chan struct{}) {
	t.Helper()
	var wg sync.WaitGroup
	for _, w := range r.workers {
		wg.Go(func() {
			for !t.Failed() && (int(r.made.Load()) < r.edits || !closed(until)) {
				if err := w.step(ctx); err != nil {
					t.Errorf("worker %d: %v", w.number, err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d edits were made", r.made.Load())
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// editor makes edits of its own names.
type editor struct {
	run    *editRun
	number int
	rand   *rand.Rand
	want   map[string]*edited // by the name of the object
	count  int
}

// labelsOfEditor is how many names each has in each zone. They are few, so that a name comes back soon after it went.
const labelsOfEditor = 2

func (w *editor) step(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(w.rand.Int64N(int64(w.run.pause)))):
	}
	w.run.made.Add(1)
	z := w.run.zones[w.rand.IntN(len(w.run.zones))]
	if w.number == 0 {
		switch w.rand.IntN(6) {
		case 0:
			return w.changeZoneTTL(ctx, z)
		case 1:
			return w.changeGlue(ctx, w.run.zones[len(w.run.zones)-1])
		}
	}
	label := fmt.Sprintf("w%d-%d", w.number, w.rand.IntN(labelsOfEditor))
	here := w.at(z, label)
	switch n := w.rand.IntN(10); {
	case len(here) == 0, n < 3 && len(here) < 4 && here[0].rtype != "CNAME":
		return w.create(ctx, z, label, here)
	case n < 6:
		return w.changeData(ctx, here[w.rand.IntN(len(here))])
	case n < 7:
		return w.changeTTL(ctx, here)
	}
	return w.delete(ctx, here[w.rand.IntN(len(here))])
}

// at returns the records at a name, in the order of their objects' names.
func (w *editor) at(z *editedZone, label string) []*edited {
	var here []*edited
	for _, object := range slices.Sorted(maps.Keys(w.want)) {
		if e := w.want[object]; e.zone == z && e.label == label {
			here = append(here, e)
		}
	}
	return here
}

func (w *editor) create(ctx context.Context, z *editedZone, label string, here []*edited) error {
	types := []string{"A", "A", "AAAA", "TXT", "MX", "CAA", "CNAME"}
	if len(here) > 0 {
		types = types[:len(types)-1]
	}
	e := &edited{label: label, rtype: types[w.rand.IntN(len(types))], zone: z}
	e.rdata = w.data(e.rtype)
	for _, other := range here {
		if other.rtype == e.rtype {
			e.ttl = other.ttl // one RRset, one TTL
		}
	}
	for i := 0; e.object == "" || w.want[e.object] != nil; i++ {
		e.object = fmt.Sprintf("%s-%s-%d", z.name, label, i)
	}
	if err := w.try(ctx, func(ctx context.Context) error { return admin.Create(ctx, w.run.record(e)) }); err != nil {
		return err
	}
	w.want[e.object] = e
	return nil
}

// data returns rdata that was not there before.
func (w *editor) data(rtype string) string {
	w.count++
	n := w.count
	switch rtype {
	case "A":
		return fmt.Sprintf("10.%d.%d.%d", w.number, n/256, n%256)
	case "AAAA":
		return fmt.Sprintf("2001:db8::%x:%x", w.number+1, n)
	case "TXT":
		return fmt.Sprintf(`"text %d \"%d\"; $INCLUDE" "x"`, w.number, n)
	case "MX":
		return fmt.Sprintf("%d mail-%d.example.net.", n, w.number)
	case "CAA":
		return fmt.Sprintf(`0 issue "ca-%d-%d.example.net"`, w.number, n)
	}
	return fmt.Sprintf("target-%d-%d.example.net.", w.number, n)
}

func (w *editor) changeData(ctx context.Context, e *edited) error {
	e.rdata = w.data(e.rtype)
	return w.update(ctx, e)
}

// changeTTL changes the TTL of a record that is alone in its RRset.
func (w *editor) changeTTL(ctx context.Context, here []*edited) error {
	for _, e := range here {
		if slices.ContainsFunc(here, func(other *edited) bool { return other != e && other.rtype == e.rtype }) {
			continue
		}
		e.ttl = nil
		if w.rand.IntN(3) > 0 {
			ttl := w.rand.Int32N(3600)
			e.ttl = &ttl
		}
		return w.update(ctx, e)
	}
	return w.changeData(ctx, here[0])
}

// changeGlue changes the address of the sub-zone's name server, which the zone above has too.
func (w *editor) changeGlue(ctx context.Context, sub *editedZone) error {
	return w.changeData(ctx, w.want[sub.name+"-glue"])
}

func (w *editor) changeZoneTTL(ctx context.Context, z *editedZone) error {
	z.ttl = 60 + w.rand.Int32N(3600)
	obj := builder.Zone(w.run.namespace, z.name).Obj()
	return w.try(ctx, func(ctx context.Context) error {
		return tryChange(ctx, obj, func(obj *zonev1alpha1.Zone) { obj.Spec.TTL = &z.ttl })
	})
}

func (w *editor) update(ctx context.Context, e *edited) error {
	return w.try(ctx, func(ctx context.Context) error {
		return tryChange(ctx, w.run.record(e), func(r *zonev1alpha1.Record) { r.Spec.RData, r.Spec.TTL = e.rdata, e.ttl })
	})
}

func (w *editor) delete(ctx context.Context, e *edited) error {
	err := w.try(ctx, func(ctx context.Context) error {
		return client.IgnoreNotFound(admin.Delete(ctx, w.run.record(e)))
	})
	delete(w.want, e.object)
	return err
}

// try makes an edit. A refusal by a rule is never right: every edit is one that the zone can take.
func (w *editor) try(ctx context.Context, edit func(context.Context) error) error {
	return cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		err := edit(ctx)
		if err != nil && (!w.run.stubborn || apierrors.IsInvalid(err) || apierrors.IsAlreadyExists(err)) && !apierrors.IsConflict(err) {
			return cluster.Permanent(err)
		}
		return err
	})
}

// expected returns all records of a zone but the SOA, as lines of a zone file, sorted.
func (r *editRun) expected(t *testing.T, z *editedZone) []string {
	t.Helper()
	lines := []string{}
	for _, w := range r.workers {
		for _, e := range w.want {
			if e.zone == z || z.sub != nil && e.zone == z.sub && e.isDelegation() {
				lines = append(lines, line(t, e.owner(), e.resolvedTTL(), e.rtype, e.rdata))
			}
		}
	}
	if z.noNS {
		lines = append(lines, line(t, z.fqdn, z.ttl, "NS", "ns."+z.fqdn))
	}
	slices.Sort(lines)
	return lines
}

// isDelegation says whether the zone above has the record too.
func (e *edited) isDelegation() bool { return e.rtype == "NS" || e.label == "ns1" }

func (e *edited) owner() string {
	if e.label == "@" {
		return e.zone.fqdn
	}
	return e.label + "." + e.zone.fqdn
}

func (e *edited) resolvedTTL() int32 {
	if e.ttl != nil {
		return *e.ttl
	}
	return e.zone.ttl
}

// soa returns the SOA record of a zone with the serial 0, as a line of a zone file.
func (z *editedZone) soa(t *testing.T) string {
	t.Helper()
	return line(t, z.fqdn, z.ttl, "SOA", fmt.Sprintf("ns.%[1]s noc.%[1]s 0 86400 7200 3600000 360", z.fqdn))
}

// line writes a record as stack.Transfer does.
func line(t *testing.T, owner string, ttl int32, rtype, rdata string) string {
	t.Helper()
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", owner, ttl, rtype, rdata))
	if err != nil {
		t.Fatal(err)
	}
	return stack.Line(rr)
}

// awaitZones polls until a server gives away every zone as it is to be, and the API tells the same serials.
func (r *editRun) awaitZones(ctx context.Context, t *testing.T, server string, key *stack.TSIGKey) {
	t.Helper()
	for _, z := range r.zones {
		want := &stack.ZoneData{SOA: z.soa(t), Records: r.expected(t, z)}
		var got *stack.ZoneData
		err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
			var err error
			if got, err = stack.Transfer(ctx, server, z.fqdn, stack.TransferOptions{Key: key}); err != nil {
				return err
			}
			want.Serial = got.Serial
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("%s on %s is not what was written (-want +got):\n%s", z.fqdn, server, diff)
			}
			return r.statusError(ctx, z, got)
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// statusError compares the status of a zone with what a server has.
func (r *editRun) statusError(ctx context.Context, z *editedZone, got *stack.ZoneData) error {
	obj := builder.Zone(r.namespace, z.name).Obj()
	if err := admin.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	lines := []string{}
	for _, e := range obj.Status.Entries {
		rr, err := dns.NewRR(fmt.Sprintf("%s %d %s %s %s", e.FQDN, e.TTL, e.Class, e.Type, e.RData))
		if err != nil {
			return cluster.Permanent(err)
		}
		if _, isSOA := rr.(*dns.SOA); !isSOA {
			lines = append(lines, stack.Line(rr))
		}
	}
	slices.Sort(lines)
	if diff := cmp.Diff(got.Records, lines); diff != "" {
		return fmt.Errorf("%s: status.entries is not what is served (-served +status):\n%s", z.name, diff)
	}
	if obj.Status.Serial != int64(got.Serial) || int(obj.Status.EntryCount) != len(lines)+1 {
		return fmt.Errorf("%s: the status has serial %d and %d entries, and %d with %d are served", z.name,
			obj.Status.Serial, obj.Status.EntryCount, got.Serial, len(lines)+1)
	}
	return nil
}

// serialWatch looks at zones all the time, at their servers and in the API: their serials never fall, and one serial never stands for
// two contents.
type serialWatch struct {
	t       *testing.T
	zones   []string
	key     *stack.TSIGKey
	mu      sync.Mutex
	content map[string]string // records by zone and serial, of all servers
	stop    context.CancelFunc
	wg      sync.WaitGroup
	seen    map[string]int // how many serials of a zone were seen on a server
}

func (r *editRun) watchSerials(ctx context.Context, t *testing.T, key *stack.TSIGKey, servers ...string) *serialWatch {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	w := &serialWatch{t: t, zones: r.origins(), key: key, content: map[string]string{}, seen: map[string]int{}, stop: cancel}
	statuses := r.watchZones(ctx, t)
	w.wg.Go(func() { w.watchStatuses(ctx, statuses) })
	for _, server := range servers {
		w.wg.Go(func() { w.watch(ctx, server) })
	}
	t.Cleanup(w.end)
	return w
}

// watchZones begins a watch of the Zones of the run, which tells of every version of them.
func (r *editRun) watchZones(ctx context.Context, t *testing.T) watch.Interface {
	t.Helper()
	c, err := client.NewWithWatch(plane.Admin(), client.Options{Scheme: admin.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	statuses, err := c.Watch(ctx, &zonev1alpha1.ZoneList{}, client.InNamespace(r.namespace))
	if err != nil {
		t.Fatal(err)
	}
	return statuses
}

// watchStatuses goes through every version of every Zone.
func (w *serialWatch) watchStatuses(ctx context.Context, statuses watch.Interface) {
	defer statuses.Stop()
	last := map[string]zonev1alpha1.ZoneStatus{}
	for {
		select {
		case <-ctx.Done():
			return
		case event, more := <-statuses.ResultChan():
			z, isZone := event.Object.(*zonev1alpha1.Zone)
			if !more || !isZone {
				if ctx.Err() == nil {
					w.t.Errorf("the watch of Zones ended with %v", event)
				}
				return
			}
			w.step(last[z.Name], z)
			last[z.Name] = z.Status
		}
	}
}

// step compares two versions of one Zone that follow one another.
func (w *serialWatch) step(before zonev1alpha1.ZoneStatus, z *zonev1alpha1.Zone) {
	sameContent := before.Hash == z.Status.Hash && slices.Equal(before.Slices, z.Status.Slices)
	switch {
	case before.Serial == 0:
	case int32(uint32(z.Status.Serial)-uint32(before.Serial)) < 0: // RFC 1982
		w.t.Errorf("the status of %s goes from serial %d to %d", z.Name, before.Serial, z.Status.Serial)
	case z.Status.Serial == before.Serial && !sameContent:
		w.t.Errorf("the status of %s has two contents with serial %d:\n%s", z.Name, before.Serial, cmp.Diff(before, z.Status))
	}
	if z.Status.Serial != before.Serial {
		w.mu.Lock()
		w.seen["API "+z.Status.FQDN]++
		w.mu.Unlock()
	}
}

// end stops the watch.
func (w *serialWatch) end() {
	w.stop()
	w.wg.Wait()
}

func (w *serialWatch) watch(ctx context.Context, server string) {
	last := map[string]uint32{}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for round := 0; ctx.Err() == nil; round++ {
		for _, zone := range w.zones {
			w.look(ctx, server, zone, round%5 == 0, last)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// look asks once. A server that does not answer may be dead at the moment.
func (w *serialWatch) look(ctx context.Context, server, zone string, whole bool, last map[string]uint32) {
	serial, err := stack.Serial(ctx, server, zone)
	if err == nil && whole {
		var data *stack.ZoneData
		if data, err = stack.Transfer(ctx, server, zone, stack.TransferOptions{Key: w.key}); err == nil {
			serial = data.Serial
			w.compare(server, zone, data)
		}
	}
	if err != nil {
		return
	}
	before, known := last[zone]
	if known && int32(serial-before) < 0 { // RFC 1982
		w.t.Errorf("%s: the serial of %s fell from %d to %d", server, zone, before, serial)
	}
	last[zone] = serial
	if !known || serial != before {
		w.mu.Lock()
		w.seen[server+" "+zone]++
		w.mu.Unlock()
	}
}

func (w *serialWatch) compare(server, zone string, data *stack.ZoneData) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("%s %d", zone, data.Serial)
	content := data.SOA + "\n" + strings.Join(data.Records, "\n")
	if before, known := w.content[id]; known && before != content {
		w.t.Errorf("%s: serial %d of %s stands for two contents (-before +now):\n%s", server, data.Serial, zone, cmp.Diff(before, content))
	}
	w.content[id] = content
}

// report says what was seen, and fails where that was too little to tell anything.
func (w *serialWatch) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("%d contents were compared; serials seen: %v", len(w.content), w.seen)
	if len(w.content) < 3*len(w.zones) {
		w.t.Errorf("only %d contents of %d zones were seen", len(w.content), len(w.zones))
	}
}

// done is a channel that is closed.
func done() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
