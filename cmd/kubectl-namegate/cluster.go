package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/rules"
)

// clusterFlags say which cluster and namespace are meant, as kubectl's flags of the same names do.
type clusterFlags struct {
	kubeconfig, context, namespace string
}

func (f *clusterFlags) add(flags *pflag.FlagSet, namespace string) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` with the cluster's address and credentials; not given: what KUBECONFIG names, or ~/.kube/config")
	flags.StringVar(&f.context, "context", "", "`context` of the kubeconfig; not given: the current one")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "`namespace` "+namespace+"; not given: that of the context")
}

func (f *clusterFlags) config() clientcmd.ClientConfig {
	from := clientcmd.NewDefaultClientConfigLoadingRules()
	from.ExplicitPath = f.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(from, &clientcmd.ConfigOverrides{CurrentContext: f.context})
}

// namespaceName returns the namespace that is meant.
func (f *clusterFlags) namespaceName() (string, error) {
	if f.namespace == "" {
		name, _, err := f.config().Namespace()
		if clientcmd.IsEmptyConfig(err) {
			return metav1.NamespaceDefault, nil
		}
		return name, err
	}
	if err := checkNamespace("namespace", f.namespace); err != nil {
		return "", err
	}
	return f.namespace, nil
}

func checkNamespace(flag, value string) error {
	if !format.Is(format.Namespace, value) {
		return fmt.Errorf("--%s %q: give %s", flag, rules.Clip(value), format.Accepts(format.Namespace))
	}
	return nil
}

// cluster reads objects of the group of zones.
type cluster struct{ api rest.Interface }

// requestTimeout is how long the API server has for one answer.
const requestTimeout = 30 * time.Second

// connect prepares requests; it makes none.
func (f *clusterFlags) connect() (*cluster, error) {
	config, err := f.config().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("there is no kubeconfig: name one with --kubeconfig or KUBECONFIG")
	}
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := zonev1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	group := zonev1alpha1.GroupVersion
	config.GroupVersion, config.APIPath = &group, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.UserAgent = "kubectl-namegate/" + version
	config.Timeout = requestTimeout
	config.WarningHandler = rest.NoWarnings{}
	api, err := rest.RESTClientFor(config)
	return &cluster{api}, err
}

// Resources of the group.
const (
	zones      = "zones"
	records    = "records"
	zoneSlices = "zoneslices"
)

// zone reads one Zone.
func (c *cluster) zone(ctx context.Context, namespace, name string) (*zonev1alpha1.Zone, error) {
	out := &zonev1alpha1.Zone{}
	err := c.api.Get().Namespace(namespace).Resource(zones).Name(name).Do(ctx).Into(out)
	return out, installed(err)
}

// list reads all objects of a namespace, or of all where that is empty, page by page.
func (c *cluster) list(ctx context.Context, resource, namespace, selector string, newList func() runtime.Object, each func(runtime.Object)) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		out := newList()
		err := c.api.Get().Namespace(namespace).Resource(resource).VersionedParams(&options, metav1.ParameterCodec).Do(ctx).Into(out)
		return out, err
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: selector}, func(item runtime.Object) error {
		each(item)
		return nil
	})
	return installed(err)
}

// installed tells that the API server does not know the resource from that it does not know an object.
func installed(err error) error {
	var status apierrors.APIStatus
	if apierrors.IsNotFound(err) && errors.As(err, &status) {
		if details := status.Status().Details; details == nil || details.Name == "" {
			return errors.New("the cluster does not know Zones and Records: Namegate's CRDs are not installed in it")
		}
	}
	return err
}
