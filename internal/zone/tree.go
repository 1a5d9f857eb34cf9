package zone

import (
	"strings"

	"k8s.io/utils/third_party/forked/golang/btree"

	"github.com/namegate/namegate/internal/dnsname"
)

// tree holds a value for each of many names, in canonical order, so that all names below one are found without a look at the others.
type tree[T any] struct {
	values map[dnsname.Name]T
	order  *btree.BTree[leaf]
}

type leaf struct {
	key  string
	name dnsname.Name
}

// btreeDegree is a common choice for items of this size.
const btreeDegree = 32

func newTree[T any]() *tree[T] {
	return &tree[T]{values: map[dnsname.Name]T{}, order: btree.New(btreeDegree, func(a, b leaf) bool { return a.key < b.key })}
}

// get returns the value of a name, and the zero value where there is none.
func (t *tree[T]) get(name dnsname.Name) T { return t.values[name] }

func (t *tree[T]) set(name dnsname.Name, value T) {
	if _, known := t.values[name]; !known {
		t.order.ReplaceOrInsert(leaf{sortKey(name), name})
	}
	t.values[name] = value
}

func (t *tree[T]) remove(name dnsname.Name) {
	if _, known := t.values[name]; known {
		delete(t.values, name)
		t.order.Delete(leaf{key: sortKey(name)})
	}
}

// all yields every name in canonical order. The tree is not changed meanwhile.
func (t *tree[T]) all(yield func(dnsname.Name, T) bool) {
	t.order.Ascend(func(l leaf) bool { return yield(l.name, t.values[l.name]) })
}

// atOrBelow yields a name, where it is there, and all below it, in canonical order. The tree is not changed meanwhile.
func (t *tree[T]) atOrBelow(name dnsname.Name) func(yield func(dnsname.Name, T) bool) {
	first := sortKey(name)
	return func(yield func(dnsname.Name, T) bool) {
		if value, known := t.values[name]; known && !yield(name, value) {
			return
		}
		prefix := first + "\x00"
		t.order.AscendGreaterOrEqual(leaf{key: prefix}, func(l leaf) bool {
			return strings.HasPrefix(l.key, prefix) && yield(l.name, t.values[l.name])
		})
	}
}
