package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns"
	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
	"github.com/namegate/namegate/cmd/dnsserver/server"
)

// serve runs the server until the context ends.
func serve(ctx context.Context, c config, log *slog.Logger) error {
	kept, store, err := open(c)
	if err != nil {
		return err
	}
	handler, err := handler(c, kept, log)
	if err != nil {
		return err
	}
	web, err := webServer(c, handler, log)
	if err != nil {
		return err
	}
	if c.secretFile != "" && nextSecond(ctx) != nil {
		return nil
	}
	parts, attrs, err := bind(c, web, store)
	if err != nil {
		return err
	}
	if c.secretFile == "" && !loopback(c.listen) {
		log.Warn("requests are not signed: whoever reaches this server changes its records")
	}
	log.Info("ready", attrs...)
	defer log.Info("stopped")
	return together(ctx, parts)
}

// open makes the back end; store is the same where it answers DNS itself, and nil otherwise.
func open(c config) (kept backend.Backend, store *memory.Store, err error) {
	zones, err := c.parsedZones()
	if err != nil {
		return nil, nil, err
	}
	if c.backend == memoryBackend {
		store, err := memory.New(memory.Options{Zones: zones, MaxRecords: c.maxRecords, File: c.data})
		return store, store, err
	}
	for _, p := range libdns.Providers() {
		if p.Name != c.backend {
			continue
		}
		client, err := p.Open(zones)
		if err != nil {
			return nil, nil, err
		}
		kept, err := libdns.New(client, zones)
		return kept, nil, err
	}
	return nil, nil, fmt.Errorf("--backend: there is none of this name; see --help")
}

// part is something that serves until its context ends.
type part func(ctx context.Context) error

// bind takes the addresses. The attributes, for the log, say which.
func bind(c config, web *http.Server, store *memory.Store) (parts []part, attrs []any, err error) {
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return nil, nil, err
	}
	parts = []part{func(ctx context.Context) error { return serveHTTP(ctx, web, listener, c.shutdownTimeout) }}
	attrs = []any{"listen", listener.Addr().String()}
	if store == nil || c.dnsListen == "" {
		return parts, attrs, nil
	}
	dns, err := store.Listen(c.dnsListen)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	parts = append(parts, func(ctx context.Context) error { return dns.Serve(ctx, c.shutdownTimeout) })
	return parts, append(attrs, "dns-listen", dns.Addr().String()), nil
}

// together runs the parts until the context ends or one of them does: one alone is of no use.
func together(ctx context.Context, parts []part) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error)
	for _, serve := range parts {
		go func() { results <- serve(ctx) }()
	}
	var errs error
	for range parts {
		errs = errors.Join(errs, <-results)
		cancel()
	}
	return errs
}

// handler makes the HTTP handler.
func handler(c config, kept backend.Backend, log *slog.Logger) (http.Handler, error) {
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	options := server.Options{Backend: kept, Base: base, Rate: c.rate, Burst: c.burst, Timeout: c.backendTimeout, Log: log}
	if c.secretFile != "" {
		secret, err := os.ReadFile(c.secretFile)
		if err != nil {
			return nil, fmt.Errorf("--secret-file: %w", err)
		}
		verifier, err := v1.NewVerifier(v1.Algorithm(c.algorithm), secret, v1.VerifierOptions{})
		if err != nil {
			return nil, fmt.Errorf("--secret-file: %w", err)
		}
		if bytes.HasSuffix(secret, []byte("\n")) {
			log.Warn("the shared secret ends in a newline, which is part of it")
		}
		options.Verifier = verifier
	}
	return server.New(options), nil
}

// maxHeaderBytes bounds the header of a request; those of the protocol are far below it.
const maxHeaderBytes = 16 << 10

func webServer(c config, handler http.Handler, log *slog.Logger) (*http.Server, error) {
	web := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: c.readTimeout,
		ReadTimeout:       c.readTimeout,
		WriteTimeout:      c.writeTimeout,
		IdleTimeout:       c.idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	if c.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(c.tlsCert, c.tlsKey)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert-file, --tls-key-file: %w", err)
		}
		web.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return web, nil
}

// serveHTTP serves until the context ends; then no connection is accepted any more, and requests under way have grace to finish.
func serveHTTP(ctx context.Context, web *http.Server, listener net.Listener, grace time.Duration) error {
	failed := make(chan error, 1)
	go func() {
		if web.TLSConfig != nil {
			failed <- web.ServeTLS(listener, "", "")
			return
		}
		failed <- web.Serve(listener)
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := web.Shutdown(bounded); err != nil {
		return fmt.Errorf("requests were cut off: %w", errors.Join(err, web.Close()))
	}
	return nil
}

// nextSecond waits until the second in which the verifier was made is over. Timestamps are whole seconds, so a request of this very
// second is, to the verifier, from before its start.
func nextSecond(ctx context.Context) error {
	now := time.Now()
	timer := time.NewTimer(now.Truncate(time.Second).Add(time.Second).Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// loopback says whether an address that was given to listen on can be reached from this machine only.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip.IsLoopback()
}
