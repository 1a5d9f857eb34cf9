package memory

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// udpSize is the size of the largest answer over UDP, in bytes: it is never fragmented on the way.
const udpSize = 1232

// Listener answers DNS on one address, over UDP and TCP.
type Listener struct {
	addr    net.Addr
	servers []*dns.Server
}

// portTries is how often a free port is looked for that UDP and TCP both have.
const portTries = 10

// Listen binds an address, host:port, for both UDP and TCP. With port 0 both get the same free port. Nothing is answered
// before Serve.
func (s *Store) Listen(addr string) (*Listener, error) {
	var errs error
	for range portTries {
		udp, err := net.ListenPacket("udp", addr)
		if err != nil {
			return nil, err
		}
		tcp, err := net.Listen("tcp", udp.LocalAddr().String())
		if err == nil {
			return s.listener(udp, tcp), nil
		}
		errs = errors.Join(err, udp.Close())
	}
	return nil, errs
}

func (s *Store) listener(udp net.PacketConn, tcp net.Listener) *Listener {
	return &Listener{addr: udp.LocalAddr(), servers: []*dns.Server{
		{PacketConn: udp, Handler: s, UDPSize: udpSize},
		{Listener: tcp, Handler: s},
	}}
}

// Addr is the address that is listened on.
func (l *Listener) Addr() net.Addr { return l.addr }

// Serve answers until the context ends, finishes the questions under way for as long as grace lasts, and returns. It returns
// an error if it cannot go on. A Listener serves once.
func (l *Listener) Serve(ctx context.Context, grace time.Duration) error {
	var wg sync.WaitGroup
	failed := make(chan error, len(l.servers))
	for _, server := range l.servers {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		wg.Go(func() {
			if err := server.ActivateAndServe(); err != nil {
				failed <- fmt.Errorf("answering DNS on %s: %w", l.addr, err)
			}
		})
		// A server that has not started cannot be shut down.
		select {
		case <-started:
		case err := <-failed:
			return errors.Join(err, l.shutdown(grace))
		}
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	err = errors.Join(err, l.shutdown(grace))
	wg.Wait()
	return err
}

func (l *Listener) shutdown(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	var errs error
	for _, server := range l.servers {
		errs = errors.Join(errs, server.ShutdownContext(ctx))
	}
	return errs
}

// ServeDNS answers one message, for miekg/dns.
func (s *Store) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	_, stream := w.RemoteAddr().(*net.TCPAddr)
	// A client that is gone gets no answer, and there is nobody to tell.
	_ = w.WriteMsg(s.respond(query, stream))
}

// respond makes the whole response to a message. Stream says that it may have the full size of a DNS message.
func (s *Store) respond(query *dns.Msg, stream bool) *dns.Msg {
	m := new(dns.Msg).SetReply(query)
	m.Compress = true
	size := dns.MinMsgSize
	if opt := query.IsEdns0(); opt != nil {
		m.SetEdns0(udpSize, opt.Do())
		size = min(int(opt.UDPSize()), udpSize)
	}
	if stream {
		size = dns.MaxMsgSize
	}
	m.Rcode = s.fill(m, query)
	fit(m, size)
	return m
}

// fill puts the answer into the message and returns the response code.
func (s *Store) fill(m, query *dns.Msg) int {
	if opt := query.IsEdns0(); opt != nil && opt.Version() != 0 {
		return dns.RcodeBadVers
	}
	if query.Opcode != dns.OpcodeQuery {
		return dns.RcodeNotImplemented
	}
	if len(query.Question) != 1 {
		return dns.RcodeFormatError
	}
	q := query.Question[0]
	if q.Qclass != dns.ClassINET || transfers(q.Qtype) {
		return dns.RcodeRefused
	}
	s.read.RLock()
	r := s.tree.answer(q.Name, q.Qtype)
	s.read.RUnlock()
	m.Authoritative = r.authoritative
	m.Answer, m.Ns = r.answer, r.ns
	m.Extra = append(r.additions, m.Extra...)
	return r.rcode
}

// transfers is true for what asks about a zone, a transport or a transaction rather than for records (RFC 6895 section 3.1).
func transfers(qtype uint16) bool {
	return qtype == dns.TypeOPT || qtype >= dns.TypeTKEY && qtype < dns.TypeANY
}

// fit makes the response no larger than size. Addresses that are only a help go first, without telling the client to come
// again over TCP; but those of a referral are needed.
func fit(m *dns.Msg, size int) {
	if m.Len() > size && len(m.Answer) > 0 {
		opt := m.IsEdns0()
		m.Extra = nil
		if opt != nil {
			m.Extra = []dns.RR{opt}
		}
	}
	m.Truncate(size)
}
