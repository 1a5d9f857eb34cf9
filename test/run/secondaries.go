package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
	"github.com/namegate/namegate/test/cluster/secondary"
	"github.com/namegate/namegate/test/cluster/stack"
)

// Where the configurations of docs/zones.md have CoreDNS and its two secondaries, and what stands for the secret of their key.
const (
	guidePrimary = "192.0.2.1"
	guideBIND    = "192.0.2.2"
	guideKnot    = "192.0.2.3"
	guideSecret  = "SECRET"
	// guideZone is the zone that the secondaries have.
	guideZone = "example.org."
)

// realSecret is the key of this test only, in base64.
const realSecret = "bmFtZWdhdGUtc21va2UtbmFtZWdhdGUtc21va2UtMDA="

// secondaries are a CoreDNS that gives away zones and two servers that take them, configured as docs/zones.md says. They have ports of
// 127.0.0.1 in the place of addresses.
type secondaries struct {
	dir                        string
	primary, ready, bind, knot int
	running                    []*process.Process
}

// checkSecondaries holds that the configurations of docs/zones.md work: both secondaries get the zone, and are told of a change.
func (r *runner) checkSecondaries(ctx context.Context, guide page) error {
	for _, kind := range []secondary.Kind{secondary.BIND, secondary.Knot} {
		if _, err := kind.Find(); err != nil {
			fmt.Fprintf(r.out, "skip           the secondaries of %s: %v\n", zonesGuide, err)
			return nil
		}
	}
	var s secondaries
	return errors.Join(
		r.step("BIND 9 and Knot follow CoreDNS as "+zonesGuide+" has them configured", func() error {
			return errors.Join(s.start(ctx, r, guide), s.follow(ctx, r))
		}),
		s.stop(),
	)
}

func (s *secondaries) start(ctx context.Context, r *runner, guide page) error {
	var err error
	if s.dir, err = r.cluster.MkdirTemp("secondaries-"); err != nil {
		return err
	}
	for _, port := range []*int{&s.primary, &s.ready, &s.bind, &s.knot} {
		if *port, err = cluster.FreePort(); err != nil {
			return err
		}
	}
	_, kubeconfig, err := r.cluster.ServiceAccountConfig(ctx, stack.Namespace, cluster.CoreDNSServiceAccount)
	if err != nil {
		return err
	}
	named, err := secondary.BIND.Find()
	if err != nil {
		return err
	}
	knotd, err := secondary.Knot.Find()
	if err != nil {
		return err
	}
	err = s.run(r, "coredns", r.bin("coredns"), s.corefile(guide.files["corefile"], kubeconfig), "-conf")
	if err != nil {
		return err
	}
	if err := awaitOK(ctx, "http://"+local(s.ready)+"/ready"); err != nil {
		return fmt.Errorf("CoreDNS is not ready: %w\n%s", err, s.running[0].LogTail(20))
	}
	return errors.Join(
		s.run(r, "named", named, s.named(guide.files["named"]), "-g", "-4", "-n", "1", "-c"),
		s.run(r, "knotd", knotd, s.knotd(guide.files["knot"]), "-c"),
	)
}

// run starts a program whose last argument is its configuration.
func (s *secondaries) run(r *runner, name, program, config string, args ...string) error {
	path := filepath.Join(s.dir, name+".conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{Name: name, Path: program, Args: append(args, path), Dir: s.dir, LogFile: filepath.Join(r.dir, "secondaries-"+name+".log")})
	if err == nil {
		s.running = append(s.running, p)
	}
	return err
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func (s *secondaries) corefile(text, kubeconfig string) string {
	return strings.NewReplacer(
		".:53 {", fmt.Sprintf(".:%d {\n    bind 127.0.0.1", s.primary),
		"    ready\n", "    ready "+local(s.ready)+"\n",
		"to "+guideBIND+" "+guideKnot, "to "+local(s.bind)+" "+local(s.knot),
		"    namegate example.org\n", "    namegate example.org {\n        kubeconfig "+strconv.Quote(kubeconfig)+"\n    }\n",
		guideSecret, realSecret,
	).Replace(text)
}

func (s *secondaries) named(text string) string {
	options := fmt.Sprintf("options { directory %q; listen-on port %d { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none; recursion no; };\ncontrols { };\n",
		s.dir, s.bind)
	return options + strings.NewReplacer(guidePrimary+" port 53", fmt.Sprintf("127.0.0.1 port %d", s.primary), guideSecret, realSecret).Replace(text)
}

func (s *secondaries) knotd(text string) string {
	server := fmt.Sprintf("server:\n    rundir: %[1]q\n    listen: 127.0.0.1@%[2]d\nlog:\n  - target: stderr\n    any: info\ndatabase:\n    storage: %[1]q\n"+
		"template:\n  - id: default\n    storage: %[1]q\n", s.dir, s.knot)
	return server + strings.NewReplacer(guidePrimary+"@53", fmt.Sprintf("127.0.0.1@%d", s.primary), guidePrimary, "127.0.0.1", guideSecret, realSecret).Replace(text)
}

// follow changes the zone once both secondaries have it. Neither asks again by itself for a day: they hear of the change by NOTIFY, or not.
func (s *secondaries) follow(ctx context.Context, r *runner) error {
	if len(s.running) != 3 {
		return nil // it has not started, and says so
	}
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	for _, port := range []int{s.bind, s.knot} {
		if _, err := stack.AwaitAnswer(ctx, local(port), "www."+guideZone, "A", "192.0.2.80"); err != nil {
			return fmt.Errorf("the first transfer: %w\n%s", err, s.logs())
		}
	}
	const changed = "192.0.2.83"
	if err := r.changeSample(ctx, changed); err != nil {
		return err
	}
	for _, port := range []int{s.bind, s.knot} {
		if _, err := stack.AwaitAnswer(ctx, local(port), "www."+guideZone, "A", changed); err != nil {
			return fmt.Errorf("after a change: %w\n%s", err, s.logs())
		}
	}
	if _, err := stack.Transfer(ctx, local(s.primary), guideZone, stack.TransferOptions{}); err == nil {
		return errors.New("a transfer that is not signed is answered")
	}
	return nil
}

// changeSample gives the sample www.example.org another address.
func (r *runner) changeSample(ctx context.Context, address string) error {
	out, err := r.cluster.Kubectl(ctx, nil, "patch", "record", "www-example-org", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"rdata":%q}}`, address))
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (s *secondaries) logs() string {
	var b strings.Builder
	for _, p := range s.running {
		fmt.Fprintf(&b, "the end of the log of %s:\n%s\n", p.Name(), p.LogTail(10))
	}
	return b.String()
}

// secondaryGrace is how long one may take to stop.
const secondaryGrace = 15 * time.Second

func (s *secondaries) stop() error {
	var errs []error
	for _, p := range s.running {
		errs = append(errs, p.Stop(secondaryGrace))
	}
	return errors.Join(errs...)
}

// awaitOK polls a URL until it answers 200.
func awaitOK(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	return cluster.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			err = fmt.Errorf("GET %s: %s", url, response.Status)
		}
		return errors.Join(err, response.Body.Close())
	})
}
