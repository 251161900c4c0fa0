// compute-docsgen writes the API docs from a schema, as Pulumi's Registry does. It uses an older version of Pulumi's
// library, because newer versions do not contain the generator. See ../command.
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

// read does not validate the schema, because compute-sdkgen has done that with newer rules.
func read(text []byte) (*schema.Package, error) {
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	return schema.ImportSpec(spec, nil)
}
