// compute-docsgen writes the API docs, as Pulumi's registry makes them from a schema. The generator
// has left Pulumi's library since, and is not to be had where it is now. See ../command.
package main

import (
	"encoding/json"

	"pulumi-compute/tools/command"

	"github.com/pulumi/pulumi/pkg/v3/codegen/docs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "compute-docsgen"

func main() {
	command.Run(read, map[string]func(*schema.Package) (command.Files, error){
		"docs": func(pkg *schema.Package) (command.Files, error) {
			return docs.NewContext(tool, pkg).GeneratePackage()
		},
	})
}

// read trusts the schema, which compute-sdkgen has checked by newer rules.
func read(text []byte) (*schema.Package, error) {
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	return schema.ImportSpec(spec, nil)
}
