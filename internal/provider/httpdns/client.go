package httpdns

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
)

// Client speaks to one server. Every error of its methods is an *Error, but for the two of Get.
type Client struct {
	factory *Factory
	server  endpoint.URL
	timeout time.Duration
	sign    func(req *http.Request, body []byte) error
}

// ID names a record on a server.
type ID struct {
	Type   record.Type
	Domain dnsname.Name
	// Subdomain in canonical form; "@" for the domain itself.
	Subdomain string
}

// Of returns the ID of an RRset.
func Of(set *record.RRset) ID {
	return ID{Type: set.Type, Domain: set.Domain, Subdomain: set.Subdomain}
}

// owner returns the whole name. An ID whose parts are not canonical is refused: a subdomain such as ".." would be another path.
func (id ID) owner() (dnsname.Name, bool) {
	subdomain, err := dnsname.ParseSubdomain(id.Subdomain)
	if err != nil || subdomain != id.Subdomain || id.Domain.IsZero() || id.Domain == dnsname.Root || !id.Type.Known() {
		return dnsname.Name{}, false
	}
	owner, err := dnsname.Join(subdomain, id.Domain)
	return owner, err == nil
}

// Health asks for the server's health (GET /health): nil means that it answered 200 and calls itself healthy.
func (c *Client) Health(ctx context.Context) error {
	a, err := c.exchange(ctx, http.MethodGet, dnsserverv1.PathHealth, nil)
	if err != nil {
		return err
	}
	return asError(a.health())
}

// Upsert creates or replaces a record (POST /records). It is idempotent. An answer that is about another record is a failure of the server.
func (c *Client) Upsert(ctx context.Context, set *record.RRset) error {
	body, err := json.Marshal(dnsserverv1.UpsertRequest{Record: Wire(set), Operation: dnsserverv1.OperationUpsert})
	if err != nil || len(body) > dnsserverv1.MaxBodyBytes {
		return failure(causeTooBig)
	}
	a, failed := c.exchange(ctx, http.MethodPost, dnsserverv1.PathRecords, body)
	if failed != nil {
		return failed
	}
	return asError(a.upserted(set.Type, set.Owner))
}

// Delete removes a record (DELETE /records/{type}/{domain}/{subdomain}). It is idempotent: the answer that there is no such record is success.
func (c *Client) Delete(ctx context.Context, id ID) error {
	if _, ok := id.owner(); !ok {
		return failure(causeNoRecord)
	}
	a, err := c.exchange(ctx, http.MethodDelete, id.path(), nil)
	if err != nil {
		return err
	}
	return asError(a.deleted())
}

// Get reads a record (GET /records/{type}/{domain}/{subdomain}). It returns ErrNotFound where the server says that there is none, and
// ErrUnsupported where the server does not offer this, as servers need not. A record that breaks a rule is a failure of the server.
func (c *Client) Get(ctx context.Context, id ID) (*record.RRset, error) {
	owner, ok := id.owner()
	if !ok {
		return nil, failure(causeNoRecord)
	}
	a, err := c.exchange(ctx, http.MethodGet, id.path(), nil)
	if err != nil {
		return nil, err
	}
	return a.found(id, owner)
}

// path is where the record is, below the server's URL.
func (id ID) path() string {
	return dnsserverv1.RecordPath("", string(id.Type), id.Domain.String(), id.Subdomain)
}

// asError makes the nil of an *Error a nil of error.
func asError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}
