// Package command is the command line of programs that write whole SDKs from a Pulumi schema:
//
//	PROGRAM -schema schema.json -language nodejs -out sdk/nodejs
//	PROGRAM -schema schema.json -check
//
// Such programs call the same generators as `pulumi package gen-sdk`. That command calls the generators through language
// hosts, and hosts that support this are not available everywhere, so these programs link the generators as libraries.
// There are several programs, because no version of Pulumi's library contains all generators.
package command

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Files is the content of an SDK: the text of each file by its path.
type Files = map[string][]byte

// Run executes the command line, and ends the process if that fails. `bind` makes a package of a schema with the program's
// version of Pulumi's library. `generators` has a generator for each language.
func Run[Schema, Package any](bind func(Schema) (Package, error), generators map[string]func(Package) (Files, error)) {
	schemaPath := flag.String("schema", "schema.json", "the Pulumi schema to read")
	language := flag.String("language", "", "the language of the SDK")
	out := flag.String("out", "", "the directory to write; what is there is deleted first")
	check := flag.Bool("check", false, "check the schema and write nothing")
	flag.Parse()

	if err := run(bind, generators, *schemaPath, *language, *out, *check); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func run[Schema, Package any](
	bind func(Schema) (Package, error), generators map[string]func(Package) (Files, error),
	schemaPath, language, out string, check bool,
) error {
	text, err := os.ReadFile(schemaPath)
	if err != nil {
		return err
	}
	var spec Schema
	if err := json.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("%s: %w", schemaPath, err)
	}
	pkg, err := bind(spec)
	if err != nil {
		return fmt.Errorf("%s: %w", schemaPath, err)
	}
	if check {
		return nil
	}
	if out == "" {
		return errors.New("-out is missing: the directory to write")
	}
	generate, ok := generators[language]
	if !ok {
		return fmt.Errorf("no generator for the language %q", language)
	}
	files, err := generate(pkg)
	if err != nil {
		return fmt.Errorf("%s SDK: %w", language, err)
	}
	return write(out, files)
}

func write(out string, files Files) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
