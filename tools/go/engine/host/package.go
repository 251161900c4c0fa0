package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/blang/semver"
	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/nodejs/npm"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
	"golang.org/x/mod/modfile"
)

// The generators name the tool in the first line of each file.
const tool = "compute-host"

type writePackage func(
	*schema.Package, *pulumirpc.GeneratePackageRequest, schema.ReferenceLoader,
) (map[string][]byte, error)

// linked is a package of a project.
type linked struct {
	pkg *schema.Package
	// Of its SDK, from the folder of the program.
	path string
}

type link func(context.Context, *pulumirpc.ProgramInfo, []linked) (imports []string, err error)

// generatePackage does what the official language hosts do.
func (l language) generatePackage(
	_ context.Context, request *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	client, err := schema.NewLoaderClient(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	loader := schema.NewCachedLoader(client)
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(request.Schema), &spec); err != nil {
		return nil, err
	}
	pkg, diagnostics, err := schema.BindSpec(spec, loader, schema.ValidationOptions{AllowDanglingReferences: true})
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)}
	if diagnostics.HasErrors() {
		return response, nil
	}
	files, err := l.writePackage(pkg, request, loader)
	if err != nil {
		return nil, err
	}
	for name, text := range files {
		path := filepath.Join(request.Directory, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// linkPackages does what the official language hosts do.
func (l language) linkPackages(
	ctx context.Context, request *pulumirpc.LinkRequest,
) (*pulumirpc.LinkResponse, error) {
	client, err := schema.NewLoaderClient(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	loader := schema.NewCachedLoader(client)
	var packages []linked
	for _, dependency := range request.Packages {
		descriptor := schema.PackageDescriptor{
			Name:        dependency.Package.Name,
			DownloadURL: dependency.Package.Server,
		}
		if version, err := semver.New(dependency.Package.Version); err == nil {
			descriptor.Version = version
		}
		reference, err := schema.LoadPackageReferenceV2(ctx, loader, &descriptor)
		if err != nil {
			return nil, err
		}
		pkg, err := reference.Definition()
		if err != nil {
			return nil, err
		}
		languages := map[string]schema.Language{
			"nodejs": nodejs.Importer, "python": python.Importer, "go": golang.Importer,
		}
		if err := pkg.ImportLanguages(languages); err != nil {
			return nil, err
		}
		packages = append(packages, linked{pkg, dependency.Path})
	}
	imports, err := l.link(ctx, request.Info, packages)
	if err != nil {
		return nil, err
	}
	instructions := "You can import the SDK in your program with:\n\n  " + strings.Join(imports, "\n  ") + "\n"
	return &pulumirpc.LinkResponse{ImportInstructions: instructions}, nil
}

func writeNodejs(
	pkg *schema.Package, request *pulumirpc.GeneratePackageRequest, loader schema.ReferenceLoader,
) (map[string][]byte, error) {
	return nodejs.GeneratePackage(tool, pkg, request.ExtraFiles, request.LocalDependencies, request.Local, loader)
}

func linkNodejs(ctx context.Context, program *pulumirpc.ProgramInfo, packages []linked) ([]string, error) {
	manager, err := npm.ResolvePackageManager(npm.AutoPackageManager, program.ProgramDirectory)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, of := range packages {
		name := "@pulumi/" + of.pkg.Name
		if info, ok := of.pkg.Language["nodejs"].(nodejs.NodePackageInfo); ok && info.PackageName != "" {
			name = info.PackageName
		}
		if err := manager.Link(ctx, program.ProgramDirectory, name, of.path); err != nil {
			return nil, err
		}
		imports = append(imports, `import * as `+of.pkg.Name+` from "`+name+`";`)
	}
	return imports, nil
}

func writePython(
	pkg *schema.Package, request *pulumirpc.GeneratePackageRequest, _ schema.ReferenceLoader,
) (map[string][]byte, error) {
	return python.GeneratePackage(tool, pkg, request.ExtraFiles, nil)
}

func linkPython(ctx context.Context, program *pulumirpc.ProgramInfo, packages []linked) ([]string, error) {
	// The older host installs with pip alone.
	pip, err := toolchain.ResolveToolchain(toolchain.PythonOptions{
		Root: program.RootDirectory, ProgramDir: program.ProgramDirectory, Toolchain: toolchain.Pip,
	})
	if err != nil {
		return nil, err
	}
	var imports []string
	paths := map[string]string{}
	for _, of := range packages {
		name := python.PyPack(of.pkg.Namespace, of.pkg.Name)
		if info, ok := of.pkg.Language["python"].(python.PackageInfo); ok && info.PackageName != "" {
			name = info.PackageName
		}
		paths[name] = of.path
		imports = append(imports, "import "+name)
	}
	return imports, pip.LinkPackages(ctx, paths)
}

func writeGo(
	pkg *schema.Package, request *pulumirpc.GeneratePackageRequest, _ schema.ReferenceLoader,
) (map[string][]byte, error) {
	return golang.GeneratePackage(tool, pkg, request.LocalDependencies)
}

func linkGo(_ context.Context, program *pulumirpc.ProgramInfo, packages []linked) ([]string, error) {
	path := filepath.Join(program.ProgramDirectory, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, of := range packages {
		reference := of.pkg.Reference()
		module, package_ := golang.ExtractModulePath(reference), golang.ExtractImportBasePath(reference)
		// The generator writes the module that contains the package.
		if info, ok := of.pkg.Language["go"].(golang.GoPackageInfo); ok && info.ImportBasePath != "" {
			module, package_ = filepath.ToSlash(filepath.Dir(info.ImportBasePath)), info.ImportBasePath
		}
		if err := file.AddReplace(module, "", "./"+filepath.ToSlash(of.path), ""); err != nil {
			return nil, err
		}
		imports = append(imports, `import "`+package_+`"`)
	}
	if text, err = file.Format(); err != nil {
		return nil, err
	}
	return imports, os.WriteFile(path, text, 0o644)
}
