// compute-docsgen writes the API docs from a schema, as Pulumi's Registry does. It uses an older version of Pulumi's
// library, because newer versions do not contain the generator. See ../command.
package main

import (
	"pulumi-compute/tools/command"

	"github.com/pulumi/pulumi/pkg/v3/codegen/docs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "compute-docsgen"

func main() {
	command.Run(bind, map[string]func(*schema.Package) (command.Files, error){
		"docs": func(pkg *schema.Package) (command.Files, error) {
			return docs.NewContext(tool, pkg).GeneratePackage()
		},
	})
}

// bind does not validate the schema, because compute-sdkgen has done that with newer rules.
func bind(spec schema.PackageSpec) (*schema.Package, error) {
	return schema.ImportSpec(spec, nil)
}
