package namegate

import (
	"fmt"
	"io"
	stdlog "log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// TestRandomEvents plays random histories of a cluster to a feed: Zones are published, withdrawn, deleted and created anew, two of one name among them,
// and slices are spoilt. The watches of both kinds run ahead of one another, lose what happened and list anew, and tell things twice. What is served is at
// each moment one whole version that was published, and never an older one of a Zone than before; what was served stays for as long as its Zone is known
// to publish. At the end it is what the last statuses list. RANDOM_EVENTS_RUNS has it play more, and RANDOM_EVENTS_SEED begin with another seed.
func TestRandomEvents(t *testing.T) { testRandomEvents(t, 50) }

func testRandomEvents(t *testing.T, otherwise int) {
	t.Helper()
	stdlog.SetOutput(io.Discard)
	t.Cleanup(func() { stdlog.SetOutput(os.Stderr) })
	first, runs := uint64(setting("RANDOM_EVENTS_SEED", 1)), setting("RANDOM_EVENTS_RUNS", otherwise)
	for seed := first; seed < first+uint64(runs); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHistory(t, seed)
				for range 80 {
					h.step()
				}
				h.end()
				if t.Failed() {
					t.Logf("RANDOM_EVENTS_SEED=%d RANDOM_EVENTS_RUNS=1; what happened:\n%s", seed, strings.Join(h.story, "\n"))
				}
			})
		})
	}
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// history is what happens in a cluster, and how much of it a feed has been told.
type history struct {
	t     *testing.T
	rng   *rand.Rand
	feed  *feed
	story []string
	count int // of objects, versions of them, and serials

	zones   map[string]*zonev1alpha1.Zone // as the API server has them, by namespace/name
	slices  map[string]*zonev1alpha1.ZoneSlice
	watches []*stream
	// versions are the records of everything that was published, by UID and serial.
	versions map[string][]string
	// told are the UIDs of the Zones that the feed knows to publish, by namespace/name; serials are what was served of each UID, and served is what
	// has to be served still, by origin.
	told    map[string]types.UID
	serials map[types.UID]uint32
	served  map[string]types.UID
}

// stream is the watch of one kind.
type stream struct {
	kind, namespace string
	events          []occurrence
	// before has what was told, to be told again.
	before []occurrence
}

// occurrence is one event of a watch.
type occurrence struct {
	object metav1.Object
	gone   bool
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 3)), zones: map[string]*zonev1alpha1.Zone{}, slices: map[string]*zonev1alpha1.ZoneSlice{},
		versions: map[string][]string{}, told: map[string]types.UID{}, serials: map[types.UID]uint32{}, served: map[string]types.UID{}}
	namespaces := [][]string{{""}, {"dns", "web"}}[h.rng.IntN(2)]
	for _, namespace := range namespaces {
		h.watches = append(h.watches, &stream{kind: "zones", namespace: namespace}, &stream{kind: "slices", namespace: namespace})
	}
	h.feed = newFeed(len(h.watches))
	t.Cleanup(h.feed.keeper.pace.stop)
	return h
}

func (h *history) tell(format string, args ...any) {
	h.story = append(h.story, fmt.Sprintf(format, args...))
}

func (h *history) next() int { h.count++; return h.count }

func (h *history) step() {
	switch n := h.rng.IntN(100); {
	case n < 25:
		h.publish()
	case n < 31:
		h.withdraw()
	case n < 35:
		h.delete()
	case n < 40:
		h.spoil()
	case n < 43:
		h.relist(h.watches[h.rng.IntN(len(h.watches))])
	case n < 52:
		h.repeat()
	default:
		w := h.watches[h.rng.IntN(len(h.watches))]
		for range 1 + h.rng.IntN(4) {
			h.deliver(w)
		}
	}
}

var (
	keys    = []string{"dns/one", "web/rival", "dns/two"}
	origins = map[string]string{"dns/one": org, "web/rival": org, "dns/two": "example.net."}
)

// happened has the watches tell of a change of an object.
func (h *history) happened(object metav1.Object, gone bool) {
	_, isZone := object.(*zonev1alpha1.Zone)
	for _, w := range h.watches {
		if isZone == (w.kind == "zones") && isOf(types.NamespacedName{Namespace: object.GetNamespace()}, w.namespace) {
			w.events = append(w.events, occurrence{object, gone})
		}
	}
}

// publish gives a Zone a new version, as the controller does: slices first, then the status, and then what is not listed goes.
func (h *history) publish() {
	key := keys[h.rng.IntN(len(keys))]
	lines := []string{ns, fmt.Sprintf("www 300 A 192.0.2.%d", 1+h.rng.IntN(3))}
	for i := range []int{0, 0, 300}[h.rng.IntN(3)] {
		lines = append(lines, fmt.Sprintf("h%d 300 A 192.0.2.1", i))
	}
	old, serial := h.zones[key], uint32(h.next())
	uid, created := fmt.Sprint("zone ", serial), time.Unix(int64(h.rng.IntN(3)), 0)
	if old != nil {
		uid, created = string(old.UID), old.CreationTimestamp.Time
	}
	p := publish(h.t, key, uid, origins[key], serial, lines...)
	p.zone.CreationTimestamp, p.zone.ResourceVersion = metav1.NewTime(created), fmt.Sprint(h.next())
	h.tell("%s (%s) publishes %d, %d slices", key, uid, serial, len(p.slices))
	var records []string
	for _, s := range p.slices {
		for _, rr := range readSlice(s).rrs {
			records = append(records, rr.String())
		}
		h.put(s)
	}
	slices.Sort(records)
	h.versions[fmt.Sprint(uid, serial)] = records
	h.zones[key] = p.zone
	h.happened(p.zone, false)
	h.sweep(key)
}

// put makes a slice, in the place of one that is not as it should be.
func (h *history) put(s *zonev1alpha1.ZoneSlice) {
	name := s.Namespace + "/" + s.Name
	if there := h.slices[name]; there != nil {
		if readSlice(there).err == nil {
			return
		}
		h.happened(there, true)
	}
	s = s.DeepCopy()
	s.UID = types.UID(fmt.Sprint("slice ", h.next()))
	h.slices[name] = s
	h.happened(s, false)
}

// sweep deletes the slices of a Zone that it does not list.
func (h *history) sweep(key string) {
	for name, s := range h.slices {
		z := h.zones[key]
		if s.Namespace+"/"+s.Zone == key && (z == nil || !slices.Contains(z.Status.Slices, s.Digest)) {
			delete(h.slices, name)
			h.happened(s, true)
		}
	}
}

func (h *history) withdraw() {
	key := keys[h.rng.IntN(len(keys))]
	z := h.zones[key]
	if z == nil {
		return
	}
	h.tell("%s withdraws", key)
	z = published{zone: z}.unpublished().zone
	z.ResourceVersion = fmt.Sprint(h.next())
	h.zones[key] = z
	h.happened(z, false)
	h.sweep(key)
}

func (h *history) delete() {
	key := keys[h.rng.IntN(len(keys))]
	if z := h.zones[key]; z != nil {
		h.tell("%s is deleted", key)
		delete(h.zones, key)
		h.happened(z, true)
		if h.rng.IntN(2) == 0 { // the garbage collector takes its time: another Zone of the name may find them
			h.sweep(key)
		}
	}
}

// spoil does to a slice what the controller will set right.
func (h *history) spoil() {
	for name, s := range h.slices {
		changed := s.DeepCopy()
		how := []string{"deleted", "changed", "emptied", "with another digest"}[h.rng.IntN(4)]
		if len(s.Entries) == 0 {
			how = "deleted"
		}
		switch how {
		case "deleted":
			delete(h.slices, name)
			h.happened(s, true)
			return
		case "changed":
			changed.Entries[0].RData = "198.51.100.66"
		case "emptied":
			changed.Entries = nil
		default:
			changed.Entries[0].TTL++
			changed.Digest = zone.DigestOf(changed.Shard, changed.Entries)
		}
		h.tell("%s is %s", name, how)
		h.slices[name] = changed
		h.happened(changed, false)
		return
	}
}

// relist has a watch lose what it has not told yet, and list what there is.
func (h *history) relist(w *stream) {
	h.tell("%s of %q are listed anew", w.kind, w.namespace)
	w.events, w.before = nil, nil
	var all []any
	if w.kind == "zones" {
		for _, key := range keys {
			namespace, _, _ := strings.Cut(key, "/")
			if !isOf(types.NamespacedName{Namespace: namespace}, w.namespace) {
				continue
			}
			z := h.zones[key]
			if z != nil {
				all = append(all, z)
			}
			h.learn(key, z)
		}
		h.must(zonesOf(h.feed, w.namespace).Replace(all, ""))
	} else {
		for _, s := range h.slices {
			if isOf(types.NamespacedName{Namespace: s.Namespace}, w.namespace) {
				all = append(all, s)
			}
		}
		h.must(slicesOf(h.feed, w.namespace).Replace(all, ""))
	}
	h.look()
}

func (h *history) must(err error) {
	if err != nil {
		h.t.Fatal(err)
	}
}

// learn notes what the feed has been told of a Zone; nil: that it is gone.
func (h *history) learn(key string, z *zonev1alpha1.Zone) {
	var uid types.UID
	if z != nil && len(z.Status.Slices) > 0 {
		uid = z.UID
	}
	if h.told[key] != "" && h.told[key] != uid {
		delete(h.served, origins[key]) // it may have been the one that was served since the last look
	}
	h.told[key] = uid
}

// publishes says whether the feed has been told that a Zone publishes a name.
func (h *history) publishes(origin string, uid types.UID) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return origins[key] == origin && h.told[key] == uid })
}

// deliver has a watch tell its next event.
func (h *history) deliver(w *stream) {
	if len(w.events) == 0 {
		return
	}
	e := w.events[0]
	w.events = w.events[1:]
	if w.before = append(w.before, e); e.gone {
		w.before = nil
	}
	h.say(w, e)
	if z, isZone := e.object.(*zonev1alpha1.Zone); isZone {
		if key := z.Namespace + "/" + z.Name; e.gone {
			h.learn(key, nil)
		} else {
			h.learn(key, z)
		}
	}
	h.look()
}

func (h *history) say(w *stream, e occurrence) {
	h.tell("  told: %s %s, gone %v", e.object.GetName(), e.object.GetResourceVersion(), e.gone)
	var err error
	switch {
	case w.kind == "zones" && e.gone:
		err = zonesOf(h.feed, w.namespace).Delete(e.object)
	case w.kind == "zones":
		err = zonesOf(h.feed, w.namespace).Update(e.object)
	case e.gone:
		err = slicesOf(h.feed, w.namespace).Delete(e.object)
	default:
		err = slicesOf(h.feed, w.namespace).Update(e.object)
	}
	h.must(err)
}

// repeat has a watch tell of something that it has told before. What has come of it since is older news.
func (h *history) repeat() {
	w := h.watches[h.rng.IntN(len(h.watches))]
	if w.kind == "zones" && len(w.before) > 0 {
		h.say(w, w.before[max(0, len(w.before)-1-h.rng.IntN(3))])
		h.look()
	}
}

// look checks what is served now. Half the time, more happens before the feed has got round to it.
func (h *history) look() {
	h.t.Helper()
	if h.rng.IntN(2) == 0 {
		return
	}
	synctest.Wait()
	for _, origin := range []string{org, "example.net."} {
		h.lookAt(origin)
	}
}

func (h *history) lookAt(origin string) {
	h.t.Helper()
	v := h.feed.keeper.at(origin)
	if v == nil {
		if was, served := h.served[origin]; served {
			h.t.Errorf("%s of %s is served no more", origin, was)
			h.tell("LOST %s", origin)
		}
		delete(h.served, origin)
		return
	}
	uid, serial := v.from.uid, v.from.serial
	if h.served[origin] = uid; h.serials[uid] > serial {
		h.t.Errorf("%s: serial %d is served after %d", origin, serial, h.serials[uid])
	}
	h.serials[uid] = serial
	if !h.publishes(origin, uid) {
		h.t.Errorf("%s: %s is served, which does not publish it any more", origin, uid)
	}
	want, known := h.versions[fmt.Sprint(uid, serial)]
	if diff := cmp.Diff(want, recordsOf(v)); !known || diff != "" {
		h.t.Errorf("%s with serial %d is not what %s published (-want +got):\n%s", origin, serial, uid, diff)
		h.tell("WRONG %s %d", origin, serial)
	}
}

// recordsOf are all records of a version but its SOA.
func recordsOf(v *version) []string {
	var out []string
	for _, rr := range v.zone.NS {
		out = append(out, rr.String())
	}
	for _, elem := range v.names {
		for _, rr := range elem.All() {
			out = append(out, rr.String())
		}
	}
	slices.Sort(out)
	return out
}

// end has the controller set right what is spoilt, and the watches tell everything. Then each name is served as the Zone that has it says.
func (h *history) end() {
	h.t.Helper()
	for key, z := range h.zones {
		if len(z.Status.Slices) > 0 {
			h.restore(key)
		}
	}
	for _, w := range h.watches {
		for len(w.events) > 0 {
			h.deliver(w)
		}
	}
	synctest.Wait()
	for _, origin := range []string{org, "example.net."} {
		h.lookAt(origin)
		var want *announced
		for key, z := range h.zones {
			if a := readZone(z); origins[key] == origin && a.published() && (want == nil || a.before(want)) {
				want = a
			}
		}
		v := h.feed.keeper.at(origin)
		switch {
		case want == nil && v != nil:
			h.t.Errorf("%s is served with %d, and published by nobody", origin, v.from.serial)
		case want != nil && (v == nil || !v.from.same(want)):
			h.t.Errorf("%s is not served with serial %d of %s: %v", origin, want.serial, want.key, v)
		}
	}
}

// restore makes the slices that a status lists anew, where they are gone or spoilt.
func (h *history) restore(key string) {
	z := h.zones[key]
	p := publish(h.t, key, string(z.UID), origins[key], uint32(z.Status.Serial), h.linesOf(z)...)
	for _, s := range p.slices {
		h.put(s)
	}
}

// linesOf are the records of the version that a Zone publishes, as publish takes them.
func (h *history) linesOf(z *zonev1alpha1.Zone) []string {
	var out []string
	for _, record := range h.versions[fmt.Sprint(z.UID, z.Status.Serial)] {
		fields := strings.Fields(record)
		name := strings.TrimSuffix(fields[0], z.Status.FQDN)
		if name = strings.TrimSuffix(name, "."); name == "" {
			name = "@"
		}
		out = append(out, strings.Join(append([]string{name, fields[1], fields[3]}, fields[4:]...), " "))
	}
	return out
}
