// compute-sdkgen-more writes the SDKs for Java and .NET, whose generators are not in the version of
// Pulumi's library that compute-sdkgen uses. See ../command.
package main

import (
	"io"
	"net/http"
	"strings"

	"pulumi-compute/tools/command"

	"github.com/pulumi/pulumi-java/pkg/codegen/java"
	"github.com/pulumi/pulumi/pkg/v3/codegen/dotnet"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// The generators name the tool in the first line of each file.
const tool = "compute-sdkgen"

func main() {
	http.DefaultTransport = offline{}
	command.Run(bind, map[string]func(*schema.Package) (command.Files, error){
		"java": func(pkg *schema.Package) (command.Files, error) {
			return java.GeneratePackage(tool, pkg, nil, nil, false, false)
		},
		"dotnet": func(pkg *schema.Package) (command.Files, error) {
			files, err := dotnet.GeneratePackage(tool, pkg, nil, nil)
			delete(files, "logo.png")
			return files, err
		},
	})
}

// offline answers the only request of a generator, which is for Pulumi's logo. Our packages must not have that logo.
type offline struct{}

func (offline) RoundTrip(request *http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(""))
	return &http.Response{StatusCode: http.StatusOK, Body: body, Request: request}, nil
}

// bind does not validate the schema, because compute-sdkgen has done that with newer rules.
func bind(spec schema.PackageSpec) (*schema.Package, error) {
	return schema.ImportSpec(spec, nil, schema.ValidationOptions{})
}
