// compute-sdkgen writes one language's SDK, whole, from a Pulumi schema.
//
//	compute-sdkgen -schema schema.json -language nodejs -out sdk/nodejs
//	compute-sdkgen -schema schema.json -check
//
// It calls the generators that `pulumi package gen-sdk` calls. They are libraries here because that
// command asks the language hosts for them, and hosts that know the question are not to be had
// everywhere.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// The generators name the tool in the first line of each file.
const tool = "compute-sdkgen"

func main() {
	schemaPath := flag.String("schema", "schema.json", "the Pulumi schema to read")
	language := flag.String("language", "nodejs", "the language of the SDK: nodejs")
	out := flag.String("out", "", "the directory to write; what is there is deleted first")
	check := flag.Bool("check", false, "check the schema and write nothing")
	flag.Parse()

	if err := run(*schemaPath, *language, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, tool+":", err)
		os.Exit(1)
	}
}

func run(schemaPath, language, out string, check bool) error {
	pkg, err := load(schemaPath)
	if err != nil || check {
		return err
	}
	if out == "" {
		return errors.New("-out is missing: the directory to write")
	}
	files, err := generate(language, pkg)
	if err != nil {
		return fmt.Errorf("%s SDK: %w", language, err)
	}
	return replace(out, files)
}

// load reads the schema and holds it against Pulumi's metaschema and binding rules.
func load(path string) (*schema.Package, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Our schema refers to no other package, hence no loader.
	pkg, diags, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	for _, diag := range diags {
		fmt.Fprintf(os.Stderr, "%s: %s\n", path, diag.Summary)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s is not a valid Pulumi schema", path)
	}
	return pkg, nil
}

func generate(language string, pkg *schema.Package) (map[string][]byte, error) {
	switch language {
	case "nodejs":
		files, err := nodejs.GeneratePackage(tool, pkg, nil, nil, false, nil)
		if err != nil {
			return nil, err
		}
		files["package.json"], err = nameEntry(files["package.json"])
		return files, err
	default:
		return nil, fmt.Errorf("no generator for %q; there is: nodejs", language)
	}
}

// nameEntry says in package.json where the compiled SDK is. The generator leaves that out, as it
// means bin/ to be published by itself; with it the directory is a workspace that programs import
// from, and `npm pack` packs what they import. For SDKs of a project's own the generator does so too.
func nameEntry(packageJSON []byte) ([]byte, error) {
	const before = "\n    \"scripts\": {"
	const entry = "\n    \"main\": \"bin/index.js\",\n    \"types\": \"bin/index.d.ts\",\n    \"files\": [\n        \"bin\"\n    ],"
	if !bytes.Contains(packageJSON, []byte(before)) {
		return nil, errors.New("package.json is not as the generator used to write it")
	}
	return bytes.Replace(packageJSON, []byte(before), []byte(entry+before), 1), nil
}

// replace writes the files beside out first, so that a failure half-way leaves the old SDK whole.
func replace(out string, files map[string][]byte) error {
	parent := filepath.Dir(filepath.Clean(out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	next, err := os.MkdirTemp(parent, ".sdkgen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next)
	if err := os.Chmod(next, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(next, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	// What npm installed for the SDK is not ours to delete.
	installed := filepath.Join(out, "node_modules")
	if err := os.Rename(installed, filepath.Join(next, "node_modules")); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(next, out)
}
