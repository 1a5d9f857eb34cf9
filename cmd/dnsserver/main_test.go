package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"go.uber.org/goleak"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns/bindtest"
	"github.com/namegate/namegate/cmd/kubectl-namegate/conformance"
)

// asProgram makes the test binary behave as the program, so that a test can start and signal a real process.
const asProgram = "DNSSERVER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// program is one run of the server.
type program struct {
	// url and dns are the addresses that it is ready at.
	url, dns string

	stop context.CancelFunc
	code chan int
	// read is closed when the whole log has been read.
	read chan struct{}
	mu   sync.Mutex
	log  bytes.Buffer
}

// testTime is how long anything may take that is expected to happen.
const testTime = 20 * time.Second

// start runs the server on free ports and waits until it is ready. It is stopped when the test ends.
func start(t testing.TB, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &program{stop: stop, code: make(chan int, 1), read: make(chan struct{})}
	r, w := io.Pipe()
	args = append([]string{"--listen", "127.0.0.1:0"}, args...)
	go func() {
		p.code <- run(ctx, args, io.Discard, w)
		_ = w.Close()
	}()
	ready := make(chan bool, 1)
	go func() {
		defer close(p.read)
		p.collect(r, ready)
	}()
	t.Cleanup(func() {
		stop()
		<-p.read
	})
	select {
	case ok := <-ready:
		if !ok {
			t.Fatalf("did not become ready: %s", p.logged())
		}
	case <-time.After(testTime):
		t.Fatal("did not become ready")
	}
	return p
}

// collect keeps the log, and says when the server is ready, or that it ended before.
func (p *program) collect(r io.Reader, ready chan<- bool) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == "ready" {
			p.url = "http://" + line["listen"].(string)
			p.dns, _ = line["dns-listen"].(string)
			ready <- true
		}
	}
	select {
	case ready <- false:
	default:
	}
}

func (p *program) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// wait returns the exit code, when all that was logged has been read too.
func (p *program) wait(t testing.TB) int {
	t.Helper()
	select {
	case code := <-p.code:
		<-p.read
		return code
	case <-time.After(testTime):
		t.Fatal("does not stop")
		return -1
	}
}

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// conform runs the conformance checks.
func conform(t testing.TB, args ...string) {
	t.Helper()
	cmd := conformance.Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// post stores an A record at www.example.com.
func post(t testing.TB, client *http.Client, url string) {
	t.Helper()
	body := `{"operation":"upsert","record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1"],"ttl":60}}`
	r, err := client.Post(url+"/records", v1.ContentType, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", r.StatusCode, answer, err)
	}
}

// plain is a client that keeps no connections.
func plain() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: testTime}
}

func resolve(t testing.TB, network, addr string) []string {
	t.Helper()
	c := dns.Client{Net: network, Timeout: testTime}
	r, _, err := c.Exchange(new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA), addr)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, rr := range r.Answer {
		out = append(out, rr.(*dns.A).A.String())
	}
	return out
}

func TestConformance(t *testing.T) {
	secret := file(t, "secret", "a secret\n")
	t.Run("memory", func(t *testing.T) {
		conform(t, "--server", start(t, "--dns-listen", "127.0.0.1:0").url)
	})
	t.Run("memory, signed", func(t *testing.T) {
		p := start(t, "--dns-listen", "", "--secret-file", secret, "--algorithm", "SHA512", "--base-path", "/dns/v1/",
			"--data", filepath.Join(t.TempDir(), "records.json"))
		conform(t, "--server", p.url+"/dns/v1", "--secret-file", secret, "--algorithm", "SHA512")
		if !strings.Contains(p.logged(), "ends in a newline") {
			t.Error("no warning of the newline")
		}
		if strings.Contains(p.logged(), "a secret") {
			t.Errorf("the log holds the secret: %s", p.logged())
		}
	})
	t.Run("BIND", func(t *testing.T) {
		bind := bindtest.Start(t, "example.com")
		p := start(t, "--backend", "rfc2136", "--zone", "example.com", "--rfc2136-server", bind.Addr,
			"--tsig-key-name", bindtest.KeyName, "--tsig-secret-file", file(t, "tsig", bindtest.KeySecret+"\n"), "--secret-file", secret)
		conform(t, "--server", p.url, "--secret-file", secret, "--domain", "example.com")
	})
}

// TestWrongKey: a key that the name server does not know makes the server unhealthy, and stops nothing.
func TestWrongKey(t *testing.T) {
	bind := bindtest.Start(t, "example.com")
	p := start(t, "--backend", "rfc2136", "--zone", "example.com", "--rfc2136-server", bind.Addr,
		"--tsig-key-name", "unknown", "--tsig-secret-file", file(t, "tsig", bindtest.KeySecret))
	for range 2 {
		r, err := plain().Get(p.url + "/health")
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status %d", r.StatusCode)
		}
	}
	if !strings.Contains(p.logged(), "NOTAUTH") || strings.Contains(p.logged(), bindtest.KeySecret) {
		t.Errorf("the log: %s", p.logged())
	}
}

// TestRestart: DNS answers over both transports, and a restart loses nothing.
func TestRestart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "records.json")
	for i := range 2 {
		p := start(t, "--dns-listen", "127.0.0.1:0", "--data", data)
		if i == 0 {
			post(t, plain(), p.url)
		}
		for _, network := range []string{"udp", "tcp"} {
			if diff := cmp.Diff([]string{"192.0.2.1"}, resolve(t, network, p.dns)); diff != "" {
				t.Errorf("run %d, %s: %s", i, network, diff)
			}
		}
		p.stop()
		if code := p.wait(t); code != 0 {
			t.Errorf("exit code %d: %s", code, p.logged())
		}
	}
}

// slowPost sends all of a request but the last byte of its body.
func slowPost(t testing.TB, p *program) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	body := `{"operation":"upsert","record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1"],"ttl":60}}`
	_, err = fmt.Fprintf(conn, "POST /records HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	if err != nil {
		t.Fatal(err)
	}
	// The server asks for the body, so the request is under way from here on.
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatal(line, err)
	}
	if _, err := io.WriteString(conn, body[:len(body)-1]); err != nil {
		t.Fatal(err)
	}
	return conn
}

// refused waits until the server takes no connections any more, which is when it is stopping.
func refused(t testing.TB, p *program) {
	t.Helper()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); <-poll.C {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			return
		}
		_ = conn.Close()
	}
	t.Fatal("still takes connections")
}

func TestRequestsUnderWayFinish(t *testing.T) {
	p := start(t, "--dns-listen", "127.0.0.1:0")
	conn := slowPost(t, p)
	defer func() { _ = conn.Close() }()
	p.stop()
	refused(t, p)
	if _, err := io.WriteString(conn, "}"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.Contains(answer, []byte("HTTP/1.1 200 OK")) || !bytes.Contains(answer, []byte(`"success":true`)) {
		t.Errorf("%s %v", answer, err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d: %s", code, p.logged())
	}
}

func TestShutdownIsBounded(t *testing.T) {
	p := start(t, "--dns-listen", "127.0.0.1:0", "--shutdown-timeout", "50ms")
	conn := slowPost(t, p)
	defer func() { _ = conn.Close() }()
	p.stop()
	if code := p.wait(t); code != 1 || !strings.Contains(p.logged(), "cut off") {
		t.Errorf("exit code %d: %s", code, p.logged())
	}
}

// TestSlowClients: who sends too slowly, or nothing more, is cut off.
func TestSlowClients(t *testing.T) {
	p := start(t, "--dns-listen", "", "--read-timeout", "100ms", "--idle-timeout", "100ms")
	for what, text := range map[string]string{
		"half a header":        "POST /records HTTP/1.1\r\nHost:",
		"half a body":          "POST /records HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
		"idle after a request": "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
		"nothing":              "",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(testTime)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		_ = conn.Close()
	}
}

func TestHugeHeader(t *testing.T) {
	p := start(t, "--dns-listen", "")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Large", strings.Repeat("a", 100_000))
	res, err := plain().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", res.StatusCode)
	}
}

// certificate writes a self-signed certificate for 127.0.0.1.
func certificate(t testing.TB) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(cert)
	return file(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		file(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))), pool
}

func TestTLS(t *testing.T) {
	certFile, keyFile, pool := certificate(t)
	secret := file(t, "secret", "secret")
	p := start(t, "--dns-listen", "127.0.0.1:0", "--tls-cert-file", certFile, "--tls-key-file", keyFile, "--secret-file", secret)
	url := strings.Replace(p.url, "http://", "https://", 1)
	conform(t, "--server", url, "--secret-file", secret, "--ca-file", certFile)
	old := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11}}}
	if r, err := old.Get(url + "/health"); err == nil {
		_ = r.Body.Close()
		t.Error("TLS 1.1 is accepted")
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DNSSERVER_BASE_PATH", "/from/environment")
	t.Setenv("DNSSERVER_DNS_LISTEN", "")
	t.Setenv("DNSSERVER_LISTEN", "not an address, and not used")
	t.Setenv("DNSSERVER_MAX_RECORDS", "0")
	p := start(t)
	if p.dns != "" {
		t.Errorf("DNS is answered at %s", p.dns)
	}
	post(t, plain(), p.url+"/from/environment")

	t.Setenv("DNSSERVER_RATE_BURST", "many")
	var stderr bytes.Buffer
	if code := run(t.Context(), nil, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "DNSSERVER_RATE_BURST") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	for _, flag := range []string{"--listen", "--data", "--secret-file", "--tsig-key-name", "DNSSERVER_"} {
		if !strings.Contains(stdout.String(), flag) {
			t.Errorf("no %s in\n%s", flag, &stdout)
		}
	}
}

func TestBadConfiguration(t *testing.T) {
	good := file(t, "secret", "secret")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for what, args := range map[string][]string{
		"unknown flag":           {"--no-such-flag"},
		"an argument":            {"argument"},
		"no such back end":       {"--backend", "none"},
		"half of TLS":            {"--tls-cert-file", good},
		"no certificate":         {"--tls-cert-file", good, "--tls-key-file", good},
		"no secret file":         {"--secret-file", filepath.Join(t.TempDir(), "none")},
		"empty secret file":      {"--secret-file", file(t, "secret", "")},
		"unknown algorithm":      {"--secret-file", good, "--algorithm", "MD5"},
		"relative base path":     {"--base-path", "dns"},
		"base path with dots":    {"--base-path", "/dns/../x"},
		"bad zone":               {"--zone", "exam ple"},
		"negative rate":          {"--rate-limit", "-1"},
		"no time":                {"--read-timeout", "0s"},
		"bad log level":          {"--log-level", "LOUD"},
		"data is no record file": {"--data", good},
		"address taken":          {"--listen", taken.Addr().String()},
		"DNS address taken":      {"--dns-listen", taken.Addr().String()},
		"rfc2136 without zone":   {"--backend", "rfc2136", "--rfc2136-server", "127.0.0.1:53", "--tsig-key-name", "k", "--tsig-secret-file", file(t, "k", "c2VjcmV0")},
		"rfc2136 without server": {"--backend", "rfc2136", "--zone", "example.com"},
		"rfc2136 with data":      {"--backend", "rfc2136", "--zone", "example.com", "--data", good},
	} {
		var stderr bytes.Buffer
		args = append([]string{"--listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0"}, args...)
		if strings.HasPrefix(what, "rfc2136") {
			args = append(args[:2], args[4:]...)
		}
		code := run(t.Context(), args, io.Discard, &stderr)
		if code != 1 || !strings.HasPrefix(stderr.String(), "dnsserver: ") || strings.Contains(stderr.String(), `"msg":"ready"`) {
			t.Errorf("%s: exit code %d: %s", what, code, &stderr)
		}
	}
}

// TestUnsignedOnAllAddresses warns.
func TestUnsignedOnAllAddresses(t *testing.T) {
	p := start(t, "--dns-listen", "", "--listen", "0.0.0.0:0")
	if !strings.Contains(p.logged(), "not signed") {
		t.Errorf("no warning: %s", p.logged())
	}
}

// TestSignals sends them to a real process.
func TestSignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command(os.Args[0], "--listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0")
		cmd.Env = append(os.Environ(), asProgram+"=1")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p := &program{}
		ready := make(chan bool, 1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.collect(stderr, ready)
		}()
		if !<-ready {
			t.Fatal(p.logged())
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
		case <-time.After(testTime):
			t.Errorf("%s does not end it", signal)
			_ = cmd.Process.Kill()
			<-ended
		}
		if err := cmd.Wait(); err != nil || !strings.Contains(p.logged(), `"msg":"stopped"`) {
			t.Errorf("%s: %v: %s", signal, err, p.logged())
		}
	}
}
