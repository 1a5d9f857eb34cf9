package namegate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/away"
)

// cluster is the source that watches an API server.
type cluster struct {
	client     rest.Interface
	namespaces []string
}

// openCluster finds out where the API server is. It does not connect.
func openCluster(opts watchOptions) (source, error) {
	config, err := restConfig(opts)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := zonev1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config.APIPath, config.GroupVersion = "/apis", &zonev1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	// A few lists and watches need no limit of their own.
	config.UserAgent, config.QPS = "coredns-"+Name, -1
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	namespaces := opts.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	return &cluster{client: client, namespaces: namespaces}, nil
}

func restConfig(opts watchOptions) (*rest.Config, error) {
	if opts.kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("this process does not run in a cluster: give kubeconfig FILE")
		}
		return config, err
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: opts.kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: opts.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %q: %w", opts.kubeconfig, err)
	}
	return config, nil
}

// kinds that are watched in each namespace.
const kinds = 2

func (c *cluster) parts() int { return kinds * len(c.namespaces) }

func (c *cluster) run(ctx context.Context, to *feed) {
	logger := funcr.New(func(_, args string) { log.Warning(args) }, funcr.Options{})
	ctx = klog.NewContext(ctx, logger)
	var group sync.WaitGroup
	for _, namespace := range c.namespaces {
		group.Go(func() { c.reflect(ctx, "zones", namespace, &zonev1alpha1.Zone{}, zonesOf(to, namespace)) })
		group.Go(func() { c.reflect(ctx, "zoneslices", namespace, &zonev1alpha1.ZoneSlice{}, slicesOf(to, namespace)) })
	}
	group.Wait()
}

// reflect lists and watches one kind. It comes back by itself about a second after an API server that was away; while one answers with
// errors, it asks every few seconds.
func (c *cluster) reflect(ctx context.Context, resource, namespace string, kind runtime.Object, store cache.ReflectorStore) {
	logger := klog.FromContext(ctx)
	told := func(err error) { log.Warningf("The watch of %s waits for the API server: %v", resource, err) }
	lw := away.Patient(cache.NewListWatchFromClient(c.client, resource, namespace, fields.Everything()), told)
	cache.NewReflectorWithOptions(lw, kind, store, cache.ReflectorOptions{
		Name: Name, Logger: &logger,
		Backoff: &wait.Backoff{Duration: 200 * time.Millisecond, Cap: 5 * time.Second, Steps: 10, Factor: 2, Jitter: 0.5},
	}).RunWithContext(ctx)
}

// intake takes the objects of one kind from a reflector. It keeps none of them, only what they say.
type intake[T any] struct {
	convert func(object any) (T, bool)
	set     func(T) touched
	remove  func(types.NamespacedName, types.UID) touched
	replace func([]T) touched
	to      *feed
	once    sync.Once
}

// carrier brings what an object says through the store in which a reflector gathers its first list, so that the list itself need not be
// held.
type carrier[T any] struct {
	metav1.ObjectMeta
	value T
}

func zonesOf(to *feed, namespace string) *intake[*announced] {
	return &intake[*announced]{
		convert: func(object any) (*announced, bool) {
			z, ok := object.(*zonev1alpha1.Zone)
			if !ok {
				return nil, false
			}
			return readZone(z), true
		},
		set:     to.book.setZone,
		remove:  to.book.removeZone,
		replace: func(all []*announced) touched { return to.book.replaceZones(namespace, all) },
		to:      to,
	}
}

func slicesOf(to *feed, namespace string) *intake[*shard] {
	return &intake[*shard]{
		convert: func(object any) (*shard, bool) {
			s, ok := object.(*zonev1alpha1.ZoneSlice)
			if !ok {
				return nil, false
			}
			if known := to.book.shardOf(types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, s.UID, s.Digest); known != nil {
				return known, true
			}
			return readSlice(s), true
		},
		set: to.book.setShard,
		remove: func(key types.NamespacedName, uid types.UID) touched {
			to.book.removeShard(key, uid)
			return nil
		},
		replace: func(all []*shard) touched { return to.book.replaceShards(namespace, all) },
		to:      to,
	}
}

// Transformer implements cache.TransformingStore.
func (i *intake[T]) Transformer() cache.TransformFunc {
	return func(object any) (any, error) {
		meta, isObject := object.(metav1.Object)
		value, ok := i.convert(object)
		if !isObject || !ok {
			return object, nil
		}
		return &carrier[T]{ObjectMeta: metav1.ObjectMeta{Namespace: meta.GetNamespace(), Name: meta.GetName()}, value: value}, nil
	}
}

func (i *intake[T]) valueOf(object any) (T, error) {
	if c, ok := object.(*carrier[T]); ok {
		return c.value, nil
	}
	value, ok := i.convert(object)
	if !ok {
		return value, fmt.Errorf("an object of type %T", object)
	}
	return value, nil
}

// Add implements cache.ReflectorStore.
func (i *intake[T]) Add(object any) error {
	value, err := i.valueOf(object)
	if err != nil {
		return err
	}
	lastSync.SetToCurrentTime()
	i.to.keeper.touch(i.set(value))
	return nil
}

// Update implements cache.ReflectorStore.
func (i *intake[T]) Update(object any) error { return i.Add(object) }

// Delete implements cache.ReflectorStore.
func (i *intake[T]) Delete(object any) error {
	meta, ok := object.(metav1.Object)
	if !ok {
		return fmt.Errorf("an object of type %T", object)
	}
	lastSync.SetToCurrentTime()
	i.to.keeper.touch(i.remove(types.NamespacedName{Namespace: meta.GetNamespace(), Name: meta.GetName()}, meta.GetUID()))
	return nil
}

// Replace implements cache.ReflectorStore.
func (i *intake[T]) Replace(objects []any, _ string) error {
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		value, err := i.valueOf(object)
		if err != nil {
			return err
		}
		all = append(all, value)
	}
	lastSync.SetToCurrentTime()
	i.to.keeper.touch(i.replace(all))
	i.once.Do(i.to.synced)
	return nil
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (i *intake[T]) Bookmark(string) error {
	lastSync.SetToCurrentTime()
	return nil
}

// Resync implements cache.ReflectorStore.
func (i *intake[T]) Resync() error { return nil }
