// Command namegate is the operator: the gate (admission webhooks) and the controllers, in one process or in two.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/namegate/namegate/cmd/manager/app"
)

// version is set at build time.
var version = "dev"

func main() {
	if err := app.NewCommand(version).ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "namegate:", err)
		os.Exit(1)
	}
}
