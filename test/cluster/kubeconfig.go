package cluster

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Context is the name of cluster, context and user in every kubeconfig written here.
const Context = "namegate-test"

// Client-side limits of what connects with these configurations. They are high because a test has one user.
const clientQPS, clientBurst = 500, 1000

// clientConfig returns how to reach the API server, without any credentials.
func (c *Cluster) clientConfig() *rest.Config {
	return &rest.Config{
		Host:            c.url,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.pem()},
		QPS:             clientQPS,
		Burst:           clientBurst,
	}
}

// writeKubeconfig writes a kubeconfig with the credentials of cfg, readable by its owner only.
func writeKubeconfig(path string, cfg *rest.Config, namespace string) error {
	kubeconfig := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{Context: {
			Server:                   cfg.Host,
			CertificateAuthorityData: cfg.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{Context: {
			ClientCertificateData: cfg.CertData,
			ClientKeyData:         cfg.KeyData,
			Token:                 cfg.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{Context: {Cluster: Context, AuthInfo: Context, Namespace: namespace}},
		CurrentContext: Context,
	}
	return clientcmd.WriteToFile(kubeconfig, path)
}
