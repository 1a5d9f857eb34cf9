package dns

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
	dnsserver "github.com/namegate/namegate/cmd/dnsserver/server"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// dnsServer is the reference DNS server, in this process, whose records a spec can see and spoil.
type dnsServer struct {
	*httptest.Server
	store   *memory.Store
	handler atomic.Pointer[dnsserver.Server]
	// before may answer a request in the server's place. It is set before the first request.
	before func(http.ResponseWriter, *http.Request) bool
}

// newDNSServer starts one; configure may set its listener.
func newDNSServer(configure func(*httptest.Server)) *dnsServer {
	GinkgoHelper()
	store, err := memory.New(memory.Options{})
	Expect(err).NotTo(HaveOccurred())
	s := &dnsServer{store: store}
	s.serve(nil)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.before == nil || !s.before(w, r) {
			s.handler.Load().ServeHTTP(w, r)
		}
	}))
	if configure != nil {
		Expect(s.Listener.Close()).To(Succeed())
		configure(s.Server)
	}
	s.Start()
	DeferCleanup(s.Close)
	return s
}

func (s *dnsServer) serve(verifier dnsserver.Verifier) {
	s.handler.Store(dnsserver.New(dnsserver.Options{Backend: s.store, Verifier: verifier,
		Log: slog.New(slog.NewTextHandler(GinkgoWriter, nil))}))
}

// secret makes the server ask for signatures with this secret from now on.
func (s *dnsServer) secret(secret string) {
	GinkgoHelper()
	verifier, err := dnsserverv1.NewVerifier(dnsserverv1.SHA256, []byte(secret), dnsserverv1.VerifierOptions{})
	Expect(err).NotTo(HaveOccurred())
	s.serve(verifier)
}

func idOf(typ, domain, subdomain string) backend.ID {
	d, err := dnsname.Parse(domain)
	Expect(err).NotTo(HaveOccurred())
	owner, err := dnsname.Join(subdomain, d)
	Expect(err).NotTo(HaveOccurred())
	return backend.ID{Owner: owner, Domain: d, Subdomain: subdomain, Type: record.Type(typ)}
}

// get reads what the server holds; nil for nothing.
func (s *dnsServer) get(typ, domain, subdomain string) *record.RRset {
	GinkgoHelper()
	set, found, err := s.store.Get(context.Background(), idOf(typ, domain, subdomain))
	Expect(err).NotTo(HaveOccurred())
	if !found {
		return nil
	}
	return set
}

func (s *dnsServer) values(typ, domain, subdomain string) []string {
	GinkgoHelper()
	if set := s.get(typ, domain, subdomain); set != nil {
		return set.Values()
	}
	return nil
}

// put changes a record behind the operator's back.
func (s *dnsServer) put(typ, domain, subdomain string, values ...string) {
	GinkgoHelper()
	set, problems := record.Parse(record.Spec{Type: typ, Domain: domain, Subdomain: subdomain, Values: values, TTL: 5})
	Expect(problems).To(BeEmpty())
	Expect(s.store.Upsert(context.Background(), set)).To(Succeed())
}

// drop deletes a record behind the operator's back.
func (s *dnsServer) drop(typ, domain, subdomain string) {
	GinkgoHelper()
	_, err := s.store.Delete(context.Background(), idOf(typ, domain, subdomain))
	Expect(err).NotTo(HaveOccurred())
}

// status answers every request alike.
func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// redirect sends every request elsewhere.
func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", to+r.URL.Path)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}
