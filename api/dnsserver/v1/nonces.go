package v1

import (
	"container/heap"
	"crypto/sha256"
	"sync"
	"time"
)

// nonceStore remembers nonces until their timestamps are stale. Each costs the same memory, whatever its length, because
// only a hash of it is kept.
type nonceStore struct {
	max int

	mu    sync.Mutex
	known map[nonceHash]struct{}
	// byAge holds the same nonces as known, the oldest timestamp first, so that forgetting costs O(log n) for each nonce.
	byAge nonceHeap
	// complete is the time since which every accepted nonce is known: the start of the store, or later if the clock was ahead and
	// nonces were forgotten that are fresh again since it was set back.
	complete time.Time
}

type nonceHash [sha256.Size]byte

func newNonceStore(start time.Time, maxNonces int) nonceStore {
	return nonceStore{max: maxNonces, known: map[nonceHash]struct{}{}, complete: start}
}

// use remembers a nonce that is not known yet, and refuses it otherwise. All is decided under one lock: of two equal requests at the
// same time, one is accepted.
func (s *nonceStore) use(nonce string, at, now time.Time, window time.Duration) *VerifyError {
	key := nonceHash(sha256.Sum256([]byte(nonce)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now.Add(-window))
	if at.Before(s.complete) {
		return errForgotten
	}
	if _, twice := s.known[key]; twice {
		return errNonceTwice
	}
	if len(s.known) >= s.max {
		return errFull(s.nextFree(now, window))
	}
	s.known[key] = struct{}{}
	heap.Push(&s.byAge, agedNonce{at: at.Unix(), key: key})
	return nil
}

// forget drops the nonces whose timestamps are before the horizon. Timestamps are whole seconds, so from the next second on all
// nonces are still known.
func (s *nonceStore) forget(horizon time.Time) {
	for len(s.byAge) > 0 {
		oldest := time.Unix(s.byAge[0].at, 0)
		if !oldest.Before(horizon) {
			return
		}
		if next := oldest.Add(time.Second); next.After(s.complete) {
			s.complete = next
		}
		delete(s.known, s.byAge[0].key)
		heap.Pop(&s.byAge)
	}
}

// nextFree returns after how long the oldest nonce is forgotten, in whole seconds, at least one.
func (s *nonceStore) nextFree(now time.Time, window time.Duration) time.Duration {
	wait := time.Unix(s.byAge[0].at, 0).Add(window).Sub(now)
	return wait.Truncate(time.Second) + time.Second
}

// agedNonce is a nonce and the timestamp of its request, in seconds since 1970.
type agedNonce struct {
	at  int64
	key nonceHash
}

// nonceHeap is a container/heap of nonces, the oldest first.
type nonceHeap []agedNonce

func (h nonceHeap) Len() int           { return len(h) }
func (h nonceHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h nonceHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a nonce, for container/heap.
func (h *nonceHeap) Push(x any) { *h = append(*h, x.(agedNonce)) }

// Pop removes the last nonce, for container/heap.
func (h *nonceHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
