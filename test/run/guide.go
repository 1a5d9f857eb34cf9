package main

import (
	"fmt"
	"strings"
	"time"
)

// commands are the README's, for this run.
func (r *runner) commands() (tryIt, error) {
	t, err := readTryIt(r.root)
	if err != nil {
		return tryIt{}, err
	}
	t = t.at(r.kubeconfig(), r.bin(""), r.assets, r.dns.DNS)
	if !hasDig() {
		t = t.withQuery()
	}
	return t, nil
}

// guide tells what to type next.
func (r *runner) guide() (string, error) {
	t, err := r.commands()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nNamegate is up after %.0f s. In another terminal, in %s:\n\n%s\n", time.Since(r.begin).Seconds(), r.root, t.export)
	fmt.Fprintf(&b, "A record with a mistake is refused at once, with the reason:\n\n%s\n", t.refused)
	fmt.Fprintf(&b, "A good one answers a moment later:\n\n%s\n", t.accepted)
	if r.dns.URL != sampleServer {
		fmt.Fprintf(&b, "Port %d is taken, so the DNSClass \"reference\" has the server %s. Do not apply\n", httpPort, r.dns.URL)
		fmt.Fprintf(&b, "config/samples/dns_v1alpha1_dnsclass.yaml: it has port %d.\n", httpPort)
	}
	b.WriteString("More mistakes are in config/samples/refused. The good records of config/samples are applied already.\n")
	fmt.Fprintf(&b, "Logs are in %s. Ctrl-C stops everything and forgets the records.\n", r.dir)
	return b.String(), nil
}

// sampleServer is the server of the sample DNSClass.
const sampleServer = "http://127.0.0.1:7100"
