package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// ReadManifests returns the objects of a YAML file, or of all *.yaml files of a directory in the order of their names.
// A kustomization is no object and is left out.
func ReadManifests(path string) ([]*unstructured.Unstructured, error) {
	files, err := manifestFiles(path)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parsed, err := parseManifests(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, parsed...)
	}
	return objects, nil
}

func manifestFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no *.yaml file", path)
	}
	return files, err
}

func parseManifests(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := yamlreader.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, err
		}
		if len(object.Object) > 0 && object.GetKind() != "Kustomization" {
			objects = append(objects, object)
		}
	}
}

// pointWebhooks rewrites the service references of webhook configurations to URLs below base, which caBundle vouches
// for: the webhook server of a test runs outside of the cluster.
func pointWebhooks(objects []*unstructured.Unstructured, base string, caBundle []byte) error {
	for _, object := range objects {
		webhooks, found, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil || !found {
			return fmt.Errorf("%s %s lists no webhooks: %w", object.GetKind(), object.GetName(), err)
		}
		for _, webhook := range webhooks {
			if err := pointWebhook(webhook, base, caBundle); err != nil {
				return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, webhooks, "webhooks"); err != nil {
			return err
		}
	}
	return nil
}

func pointWebhook(webhook any, base string, caBundle []byte) error {
	fields, ok := webhook.(map[string]any)
	if !ok {
		return errors.New("a webhook is not an object")
	}
	path, found, err := unstructured.NestedString(fields, "clientConfig", "service", "path")
	if err != nil || !found {
		return fmt.Errorf("webhook %v has no clientConfig.service.path (%w)", fields["name"], err)
	}
	fields["clientConfig"] = map[string]any{"url": base + path, "caBundle": encodeBase64(caBundle)}
	return nil
}
