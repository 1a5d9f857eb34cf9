package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Notes holds what is remembered of each object, by UID. It is safe for concurrent use.
type Notes[T any] struct {
	mu   sync.Mutex
	held map[types.UID]T
}

// Of returns what is remembered of an object; the zero value for nothing.
func (n *Notes[T]) Of(uid types.UID) T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held[uid]
}

// Keep remembers a value in the place of the last one.
func (n *Notes[T]) Keep(uid types.UID, value T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == nil {
		n.held = map[types.UID]T{}
	}
	n.held[uid] = value
}

// Drop forgets an object.
func (n *Notes[T]) Drop(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.held, uid)
}

// Len is how many objects are remembered.
func (n *Notes[T]) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.held)
}
