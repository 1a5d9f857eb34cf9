package httpdns

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// FuzzAnswer judges any answer as each operation does: nothing panics, and every error is of the closed set.
func FuzzAnswer(f *testing.F) {
	f.Add(200-100, "application/json", wwwAnswer)
	f.Add(200-100, "", `{"status":"healthy"}`)
	f.Add(404-100, "application/json; charset=utf-8", errorBody("RECORD_NOT_FOUND"))
	f.Add(403-100, "application/json", errorBody("QUOTA_EXCEEDED"))
	f.Add(429-100, "text/html", "<html>")
	f.Add(200-100, "application/json", `{"success":true,"record":{"type":"A","fqdn":"www.example.com","values":[null,"1"],"ttl":1e3,"metadata":{"port":-1}}}`)
	id := wwwID(f)
	owner, _ := id.owner()
	f.Fuzz(func(t *testing.T, number int, contentType, body string) {
		status := 100 + int(uint(number)%900) // what net/http lets through
		a := &answer{status: status, contentType: contentType, body: []byte(body)}
		for operation, err := range judge(t, a) {
			checkClosed(t, err)
			if err == nil && status != http.StatusOK && (operation != "Delete" || status != http.StatusNotFound) {
				t.Errorf("%s took status %d for success", operation, status)
			}
		}
		if set, err := a.found(id, owner); (set == nil) != (err != nil) || (set != nil && (set.Owner != owner || set.Type != id.Type)) {
			t.Errorf("Get returned %v and %v", set, err)
		}
	})
}

// FuzzWire sends any bytes as the answer to each operation: it ends in time, and every error is of the closed set.
func FuzzWire(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + wwwAnswer))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{\"status\":\"healthy\"}\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 103 X\r\n\r\nHTTP/1.1 429 X\r\nRetry-After: 5\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 404 \r\nContent-Length: 2\r\n\r\n{"))
	f.Add([]byte("HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx"))
	f.Add([]byte("\x16\x03\x01"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		for _, call := range operations(t) {
			done := make(chan struct{})
			dial := func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					defer close(done)
					defer func() { _ = theirs.Close() }()
					r, err := http.ReadRequest(bufio.NewReader(theirs))
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = theirs.Write(wire)
				}()
				return ours, nil
			}
			err := call(t.Context(), signedClient(t, "http://dns.example.com", 10*time.Second, Options{DialContext: dial}))
			<-done
			checkClosed(t, err)
			if errors.Is(err, context.DeadlineExceeded) {
				t.Error("the exchange did not end with its connection")
			}
		}
	})
}
