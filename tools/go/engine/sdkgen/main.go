// compute-sdkgen checks schema.json and writes the SDKs for Node.js, Python and Go. See ../../command.
package main

import (
	"errors"
	"fmt"
	"os"

	"pulumi-compute/tools/command"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// The generators name the tool in the first line of each file.
const tool = "compute-sdkgen"

func main() {
	command.Run(bind, map[string]func(*schema.Package) (command.Files, error){
		"nodejs": func(pkg *schema.Package) (command.Files, error) {
			return nodejs.GeneratePackage(tool, pkg, nil, nil, false, nil)
		},
		"python": func(pkg *schema.Package) (command.Files, error) {
			return python.GeneratePackage(tool, pkg, nil, nil)
		},
		"go": func(pkg *schema.Package) (command.Files, error) {
			return golang.GeneratePackage(tool, pkg, nil)
		},
	})
}

// bind checks the schema against Pulumi's metaschema and binding rules.
func bind(spec schema.PackageSpec) (*schema.Package, error) {
	// Our schema refers to no other package, so it needs no loader.
	pkg, diags, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	for _, diag := range diags {
		fmt.Fprintln(os.Stderr, diag.Summary)
	}
	if err == nil && diags.HasErrors() {
		err = errors.New("this is not a valid Pulumi schema")
	}
	return pkg, err
}
