package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
)

const (
	crashRecords = 50
	crashWorkers = 5
	kills        = 10
)

// What the way to the DNS server does to each request: it holds it and its answer up for up to so long, and loses one answer in
// so many. Kills then fall between a request and its answer, and not only between two calls.
const (
	longestHold = 60 * time.Millisecond
	oneLostIn   = 20
)

// TestCrash kills the manager at random moments while records come, change and go, and then compares what the DNS server holds
// with what the objects say.
func TestCrash(t *testing.T) {
	var (
		p    *place
		data string
		want map[string]string // address by record name
	)
	testenv.Test(t, features.New("a manager that is killed again and again").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			data = filepath.Join(t.TempDir(), "records.json")
			p = newServer(ctx, t, "crash", "--data", data)
			p.addClass(ctx, t, builder.DNSClass("crash").Server(badWayTo(t, p.server.URL)).Timeout(5).Obj())
			return ctx
		}).
		Assess("stops no write for good", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			want = writeWhileKilling(within(ctx, t, 3*time.Minute), t, p)
			return ctx
		}).
		Assess("has everything as written once it is back", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for name := range want {
				awaitReady(ctx, t, p.record(name).Obj())
			}
			err := cluster.Poll(within(ctx, t, settle), 100*time.Millisecond, func(ctx context.Context) error {
				return sameObjectsAndRecords(ctx, p, data, want)
			})
			if err != nil {
				t.Fatal(err)
			}
			for name, address := range want {
				p.answers(ctx, t, name+".example.com", "A", address)
			}
			return ctx
		}).Feature())
}

// badWayTo returns the URL of a proxy for the server at target.
func badWayTo(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hold()
		answer := httptest.NewRecorder()
		// What was sent arrives, also when its sender is dead by then.
		forward.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
		hold()
		if rand.N(oneLostIn) == 0 {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // its sender may be dead by now
	}))
	t.Cleanup(way.Close)
	return way.URL
}

func hold() { <-time.After(rand.N(longestHold)) }

// writeWhileKilling returns when the manager was killed often enough, all writes since were taken, and it runs again.
func writeWhileKilling(ctx context.Context, t *testing.T, p *place) map[string]string {
	t.Helper()
	killed := make(chan struct{})
	var wg sync.WaitGroup
	results := make([]map[string]string, crashWorkers)
	for w := range crashWorkers {
		wg.Go(func() {
			writer := &crashWriter{t: t, p: p, want: map[string]string{}}
			for i := w; i < crashRecords; i += crashWorkers {
				writer.names = append(writer.names, fmt.Sprintf("r%02d", i))
			}
			writer.run(ctx, killed)
			results[w] = writer.want
		})
	}
	killRepeatedly(ctx, t)
	close(killed)
	wg.Wait()
	t.Logf("the manager was killed %d times", kills)
	all := map[string]string{}
	for _, result := range results {
		for name, address := range result {
			all[name] = address
		}
	}
	if len(all) == 0 || len(all) == crashRecords {
		t.Fatalf("%d of %d records are to be there at the end; want some, but not all", len(all), crashRecords)
	}
	return all
}

func killRepeatedly(ctx context.Context, t *testing.T) {
	t.Helper()
	for range kills {
		select {
		case <-ctx.Done():
			t.Error(ctx.Err())
			return
		case <-time.After(rand.N(1500 * time.Millisecond)): // the random moment
		}
		namegate.Kill()
		if err := namegate.Start(ctx); err != nil {
			t.Error(err)
			return
		}
	}
}

// crashWriter changes records of its own until it is told that the killing is over, and then once more.
type crashWriter struct {
	t     *testing.T
	p     *place
	names []string
	want  map[string]string
	count int
}

func (w *crashWriter) run(ctx context.Context, killed <-chan struct{}) {
	for last := false; ; {
		for _, name := range w.names {
			if err := w.step(ctx, name); err != nil {
				w.t.Errorf("%s: %v", name, err)
				return
			}
		}
		if last {
			return
		}
		select {
		case <-killed:
			last = true
		default:
		}
	}
}

// step does something else to the record each time: it is created, changed twice and deleted.
func (w *crashWriter) step(ctx context.Context, name string) error {
	w.count++
	address := fmt.Sprintf("198.51.%d.%d", w.count/250%250, 1+w.count%250)
	_, exists := w.want[name]
	if exists && rand.N(3) == 0 {
		return w.delete(ctx, name)
	}
	if err := w.write(ctx, name, address, exists); err != nil {
		return err
	}
	w.want[name] = address
	return nil
}

// write tries until the write is taken: while the manager is down, no webhook answers and the API server refuses.
func (w *crashWriter) write(ctx context.Context, name, address string, exists bool) error {
	return cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		record := w.p.record(name).Values(address).Obj()
		if exists {
			return tryChange(ctx, record, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = []string{address} })
		}
		// One of an earlier life may still be on its way out.
		err := admin.Create(ctx, record)
		if apierrors.IsAlreadyExists(err) && w.isOurs(ctx, name, address) {
			return nil // the answer to an earlier try was lost
		}
		return err
	})
}

func (w *crashWriter) isOurs(ctx context.Context, name, address string) bool {
	record := w.p.record(name).Obj()
	err := admin.Get(ctx, client.ObjectKeyFromObject(record), record)
	return err == nil && record.DeletionTimestamp == nil && record.Spec.Values[0] == address
}

func (w *crashWriter) delete(ctx context.Context, name string) error {
	err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		return client.IgnoreNotFound(admin.Delete(ctx, w.p.record(name).Obj()))
	})
	if err == nil {
		delete(w.want, name)
	}
	return err
}

// sameObjectsAndRecords compares the objects, and all that the DNS server holds, with what was written.
func sameObjectsAndRecords(ctx context.Context, p *place, data string, want map[string]string) error {
	var list dnsv1alpha1.DNSRecordList
	if err := admin.List(ctx, &list, client.InNamespace(p.name)); err != nil {
		return err
	}
	objects := map[string]string{}
	for _, record := range list.Items {
		objects[record.Name] = record.Spec.Values[0]
	}
	if diff := cmp.Diff(want, objects); diff != "" {
		return fmt.Errorf("the objects are not those that were written (-want +got):\n%s", diff)
	}
	held, err := heldBy(data)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, held); diff != "" {
		return fmt.Errorf("the DNS server does not hold what the objects say (-want +got):\n%s", diff)
	}
	return nil
}

// heldBy reads all records that a memory server has in its file.
func heldBy(data string) (map[string]string, error) {
	content, err := os.ReadFile(data)
	if err != nil {
		return nil, err
	}
	var file struct {
		Records []struct {
			Type, Subdomain string
			Values          []string
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, err
	}
	held := map[string]string{}
	for _, record := range file.Records {
		if _, twice := held[record.Subdomain]; twice || len(record.Values) != 1 || record.Type != "A" {
			return nil, fmt.Errorf("the DNS server holds %s more than once, or something else there: %+v", record.Subdomain, record)
		}
		held[record.Subdomain] = record.Values[0]
	}
	return held, nil
}
