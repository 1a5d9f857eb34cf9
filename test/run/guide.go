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
	t = t.at(places{kubeconfig: r.kubeconfig(), bin: r.bin(""), assets: r.assets, dns: r.dns.DNS, coredns: r.coredns.Address})
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
	for _, e := range t.examples {
		e.tell(&b)
	}
	if r.dns.URL != sampleServer {
		fmt.Fprintf(&b, "Port %d is taken, so the DNSClass \"reference\" has the server %s. Do not apply\n", httpPort, r.dns.URL)
		fmt.Fprintf(&b, "config/samples/dns_v1alpha1_dnsclass.yaml: it has port %d.\n", httpPort)
	}
	fmt.Fprintf(&b, "CoreDNS answers for every Zone of the cluster on %s: dig %s www.example.org\n", r.coredns.Address, digAt(r.coredns.Address))
	if r.coredns.Address != readmeCoreDNS {
		fmt.Fprintf(&b, "README.md and docs/zones.md have %s there, a port which is taken now.\n", readmeCoreDNS)
	}
	b.WriteString("More mistakes are in config/samples/refused. The good records of config/samples are applied already.\n")
	fmt.Fprintf(&b, "Logs are in %s. Ctrl-C stops everything and forgets the records.\n", r.dir)
	return b.String(), nil
}

// tell writes an example for people.
func (e example) tell(b *strings.Builder) {
	if e.before != "" {
		fmt.Fprintf(b, "A Zone says who may put which names into it:\n\n%s\n", e.before)
	}
	fmt.Fprintf(b, "A record with a mistake is refused at once, with the reason:\n\n%s\n", e.refused)
	fmt.Fprintf(b, "A good one answers a moment later:\n\n%s\n", e.accepted)
}

// sampleServer is the server of the sample DNSClass.
const sampleServer = "http://127.0.0.1:7100"
