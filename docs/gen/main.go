// Command gen writes the reference documentation that follows from the code: docs/rules.md from the rule registry, and
// docs/api.md from the CRDs. `make generate` calls it in the root of the repository.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/namegate/namegate/config/crd"
	"github.com/namegate/namegate/internal/rules"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "docs/gen:", err)
		os.Exit(1)
	}
}

// run writes both documents below root.
func run(root string) error {
	areas, err := readAreas(filepath.Join(root, "internal", "rules"))
	if err != nil {
		return err
	}
	rulesDoc, err := renderRules(rules.All(), areas)
	if err != nil {
		return err
	}
	crds, err := readCRDs(crd.FS())
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"rules.md": rulesDoc, "api.md": renderAPI(crds)} {
		path := filepath.Join(root, "docs", name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // Everyone may read documentation.
			return err
		}
	}
	return nil
}
