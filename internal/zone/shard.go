package zone

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Limits of one shard. A shard that has more is divided in two. Both keep a ZoneSlice small enough to be rewritten for one change, and
// for etcd; one entry alone is never larger than the API allows.
const (
	maxShardEntries = 128
	maxShardBytes   = 128 << 10
)

// digestSize is the length of a shard's digest, in bytes.
const digestSize = 16

// Shards divides the entries of a zone by a hash of their owner names, so that a change of one entry changes one shard. How it divides
// them, and so every digest, follows from the entries alone: not from the order in which they came.
type Shards struct {
	root *shard
	// leaves is how many there were when their digests were taken last.
	leaves int
}

// shard is a node of the tree of hashes: one with two halves, or a leaf with entries.
type shard struct {
	// id is "s" and the bits that lead here.
	id        string
	halves    [2]*shard
	entries   []placed
	count     int
	bytes     int
	digest    string
	digestSet bool
}

// placed is an entry and its place: eight bytes of the hash of its owner, and eight of its own, which part the entries of one owner that
// has more than fit into one shard.
type placed struct {
	at [16]byte
	Entry
}

// NewShards returns an empty division.
func NewShards() *Shards { return &Shards{root: &shard{id: "s"}} }

// Change takes entries out and puts others in. What is taken out has to be there.
func (s *Shards) Change(out, in []Entry) {
	for _, e := range out {
		s.root.remove(place(e), 0)
	}
	for _, e := range in {
		s.root.insert(place(e), 0)
	}
}

// Len is the number of entries.
func (s *Shards) Len() int { return s.root.count }

// Shard is one part of a zone's content.
type Shard struct {
	ID, Digest string
	Entries    []Entry
}

// All yields every shard that is not empty, in the order of their IDs, with its digest. The entries are in the order of the digest.
func (s *Shards) All(yield func(Shard) bool) { s.root.walk(yield) }

// Digests returns the digest of each shard, in the order of their IDs.
func (s *Shards) Digests() []string {
	out := make([]string, 0, s.leaves+1)
	s.root.leaves(func(leaf *shard) { out = append(out, leaf.sum()) })
	s.leaves = len(out)
	return out
}

// Hash is the hash of a whole zone: of its SOA without the serial, and of all shards. One changed entry costs the hash of its shard, and
// of the nodes above it.
func (s *Shards) Hash(origin dnsname.Name, soa SOA) string {
	sum := sha256.Sum256([]byte(soa.canonical(origin) + "\n" + s.root.sum() + "\n"))
	return hex.EncodeToString(sum[:])
}

func place(e Entry) placed {
	p := placed{Entry: e}
	var line [256]byte // most fit
	owner, own := sha256.Sum256([]byte(e.Name.String())), sha256.Sum256(appendEntry(line[:0], e.Name.String(), int64(e.TTL), string(e.Type), e.RData))
	copy(p.at[:8], owner[:8])
	copy(p.at[8:], own[:8])
	return p
}

func comparePlaced(a, b placed) int {
	if c := slices.Compare(a.at[:], b.at[:]); c != 0 {
		return c
	}
	return Compare(a.Entry, b.Entry)
}

// bit returns one bit of a place.
func (p placed) bit(depth int) int { return int(p.at[depth/8]>>(7-depth%8)) & 1 }

// maxDepth is the depth at which no bit is left.
const maxDepth = 128

// size is what an entry weighs in a ZoneSlice, roughly.
func (p placed) size() int { return len(p.Name.String()) + len(p.Type) + len(p.RData) + 48 }

func (n *shard) isLeaf() bool { return n.halves[0] == nil }

func (n *shard) fits(depth int) bool {
	return n.count <= 1 || depth == maxDepth || n.count <= maxShardEntries && n.bytes <= maxShardBytes
}

func (n *shard) insert(p placed, depth int) {
	n.count, n.bytes, n.digestSet = n.count+1, n.bytes+p.size(), false
	if !n.isLeaf() {
		n.halves[p.bit(depth)].insert(p, depth+1)
		return
	}
	at, _ := slices.BinarySearchFunc(n.entries, p, comparePlaced)
	n.entries = slices.Insert(n.entries, at, p)
	n.divide(depth)
}

// divide makes two halves of a leaf that has too much.
func (n *shard) divide(depth int) {
	if n.fits(depth) {
		return
	}
	entries := n.entries
	n.entries = nil
	n.halves = [2]*shard{{id: n.id + "0"}, {id: n.id + "1"}}
	for _, p := range entries {
		half := n.halves[p.bit(depth)]
		half.entries, half.count, half.bytes = append(half.entries, p), half.count+1, half.bytes+p.size()
	}
	for _, half := range n.halves {
		half.divide(depth + 1)
	}
}

func (n *shard) remove(p placed, depth int) bool {
	if !n.isLeaf() {
		if !n.halves[p.bit(depth)].remove(p, depth+1) {
			return false
		}
		n.took(p)
		if n.fits(depth) {
			n.join()
		}
		return true
	}
	at, found := slices.BinarySearchFunc(n.entries, p, comparePlaced)
	if found {
		n.entries = slices.Delete(n.entries, at, at+1)
		n.took(p)
	}
	return found
}

func (n *shard) took(p placed) { n.count, n.bytes, n.digestSet = n.count-1, n.bytes-p.size(), false }

// join makes a leaf of two halves that fit into one.
func (n *shard) join() {
	var entries []placed
	n.leaves(func(leaf *shard) { entries = append(entries, leaf.entries...) })
	n.entries, n.halves = entries, [2]*shard{}
}

// leaves calls yield with each leaf that has entries, in the order of their IDs.
func (n *shard) leaves(yield func(*shard)) {
	switch {
	case !n.isLeaf():
		n.halves[0].leaves(yield)
		n.halves[1].leaves(yield)
	case n.count > 0:
		yield(n)
	}
}

func (n *shard) walk(yield func(Shard) bool) bool {
	if !n.isLeaf() {
		return n.halves[0].walk(yield) && n.halves[1].walk(yield)
	}
	return n.count == 0 || yield(n.export())
}

func (n *shard) export() Shard {
	out := Shard{ID: n.id, Digest: n.sum(), Entries: make([]Entry, 0, len(n.entries))}
	for _, p := range n.entries {
		out.Entries = append(out.Entries, p.Entry)
	}
	return out
}

// sum returns the digest of a node: of its entries, or of its halves.
func (n *shard) sum() string {
	if n.digestSet {
		return n.digest
	}
	if n.isLeaf() {
		text := append(append(make([]byte, 0, len(n.id)+1+n.bytes), n.id...), '\n')
		for _, p := range n.entries {
			text = appendEntry(text, p.Name.String(), int64(p.TTL), string(p.Type), p.RData)
		}
		n.digest = digest(text)
	} else {
		n.digest = digest([]byte(n.id + "\n" + n.halves[0].sum() + "\n" + n.halves[1].sum() + "\n"))
	}
	n.digestSet = true
	return n.digest
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:digestSize])
}

// appendEntry appends the line of an entry. No part of it holds a newline, and only the last a space.
func appendEntry(to []byte, name string, ttl int64, typ, rdata string) []byte {
	to = append(append(to, name...), ' ')
	to = append(strconv.AppendInt(to, ttl, 10), ' ')
	to = append(append(to, typ...), ' ')
	return append(append(to, rdata...), '\n')
}

// DigestOf returns the digest that a ZoneSlice with this content has, so that who serves it can tell whether it is whole.
func DigestOf(shardID string, entries []zonev1alpha1.SliceEntry) string {
	text := append([]byte(shardID), '\n')
	for _, e := range entries {
		text = appendEntry(text, e.Name, int64(e.TTL), e.Type, e.RData)
	}
	return digest(text)
}

// sliceNameDigits is how much of the digest is in the name of a ZoneSlice.
const sliceNameDigits = 20

// SliceName is the name of the ZoneSlice of a Zone that has this digest.
func SliceName(zone, digest string) string {
	return zone + "-" + SliceNameEnd(digest)
}

// SliceNameEnd is what follows the name of the Zone, and a hyphen, in the name of the ZoneSlice that has this digest.
func SliceNameEnd(digest string) string { return digest[:min(len(digest), sliceNameDigits)] }

// AppendSliceName appends what SliceName returns, for those who look at many.
func AppendSliceName(to []byte, zone, digest string) []byte {
	return append(append(append(to, zone...), '-'), SliceNameEnd(digest)...)
}

// EntryOf reads an entry of a ZoneSlice.
func EntryOf(e zonev1alpha1.SliceEntry) (Entry, error) {
	name, err := dnsname.ParseOwner(e.Name)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Name: name, Type: record.Type(e.Type), TTL: uint32(max(e.TTL, 0)), RData: e.RData}, nil
}
