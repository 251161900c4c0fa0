// compute-gomodule writes a Go module to a directory that serves as a GOPROXY (file://…), with the files that the public
// proxy would have:
//
//	compute-gomodule -module sdk/go/compute -version v0.1.0 -out DIR
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	directory := flag.String("module", ".", "the directory that has the go.mod")
	version := flag.String("version", "", "the module's version: v0.1.0")
	out := flag.String("out", "", "the directory to write to")
	flag.Parse()

	if err := run(*directory, *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "compute-gomodule:", err)
		os.Exit(1)
	}
}

func run(directory, version, out string) error {
	mod, err := os.ReadFile(filepath.Join(directory, "go.mod"))
	if err != nil {
		return err
	}
	path := modfile.ModulePath(mod)
	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	versions := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod,
	} {
		if err := os.WriteFile(filepath.Join(versions, name), text, 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromDir(file, module.Version{Path: path, Version: version}, directory); err != nil {
		return err
	}
	return file.Close()
}
