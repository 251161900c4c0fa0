// A language host that writes programs, which `pulumi import` needs, in front of an older host, which runs them.
//
// The Go proxy has no language host that knows the call GenerateProgram, but it has the generators that the official
// hosts call. This program answers that call, and forwards all others to the older host. The name of the executable,
// pulumi-language-LANGUAGE, says the language. The older host is compute-host-LANGUAGE in the same folder.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hashicorp/hcl/v2"
	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// generators has Pulumi's writer of programs for each language.
var generators = map[string]func(*pcl.Program) (map[string][]byte, hcl.Diagnostics, error){
	"nodejs": nodejs.GenerateProgram,
	"python": python.GenerateProgram,
	"go":     golang.GenerateProgram,
}

func main() {
	var failed *exec.ExitError
	switch err := run(); {
	case errors.As(err, &failed):
		os.Exit(failed.ExitCode())
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// run starts the older host, serves the calls of the engine, and returns when the older host ends.
func run() error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	folder, name := filepath.Split(executable)
	older := strings.Replace(name, "pulumi-language-", "compute-host-", 1)
	language := strings.TrimSuffix(strings.TrimPrefix(older, "compute-host-"), ".exe")
	host := exec.Command(filepath.Join(folder, older), os.Args[1:]...)
	host.Stderr = os.Stderr
	stdout, err := host.StdoutPipe()
	if err != nil {
		return err
	}
	if err := host.Start(); err != nil {
		return err
	}
	// The older host gets each signal, and its end is the end of this process.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for received := range signals {
			_ = host.Process.Signal(received)
		}
	}()

	// A host prints its port, and then what the program prints.
	printed := bufio.NewReader(stdout)
	port, err := printed.ReadString('\n')
	if err != nil {
		return errors.Join(host.Wait(), err)
	}
	connection, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
	if err != nil {
		return err
	}
	server := proxy{older: connection, generate: generators[language]}
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Options: []grpc.ServerOption{
		grpc.UnknownServiceHandler(server.handle),
	}})
	if err != nil {
		return err
	}
	fmt.Println(served.Port)
	if _, err := io.Copy(os.Stdout, printed); err != nil {
		return err
	}
	return host.Wait()
}

// proxy answers GenerateProgram, and forwards all other calls.
type proxy struct {
	older    *grpc.ClientConn
	generate func(*pcl.Program) (map[string][]byte, hcl.Diagnostics, error)
}

// handle answers one call. No call of a language host has more than one request.
func (p proxy) handle(_ any, caller grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(caller)
	if method == pulumirpc.LanguageRuntime_GenerateProgram_FullMethodName {
		var request pulumirpc.GenerateProgramRequest
		if err := caller.RecvMsg(&request); err != nil {
			return err
		}
		response, err := p.generateProgram(&request)
		if err != nil {
			return err
		}
		return caller.SendMsg(response)
	}

	ctx, cancel := context.WithCancel(caller.Context())
	defer cancel()
	description := &grpc.StreamDesc{ServerStreams: true}
	forwarded, err := p.older.NewStream(ctx, description, method)
	if err != nil {
		return err
	}
	// A message keeps the fields that its type does not have, so this type takes any message.
	var request emptypb.Empty
	if err := caller.RecvMsg(&request); err != nil {
		return err
	}
	if err := forwarded.SendMsg(&request); err != nil {
		return err
	}
	if err := forwarded.CloseSend(); err != nil {
		return err
	}
	for {
		var response emptypb.Empty
		if err := forwarded.RecvMsg(&response); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := caller.SendMsg(&response); err != nil {
			return err
		}
	}
}

// generateProgram does what the official language hosts do.
func (p proxy) generateProgram(
	request *pulumirpc.GenerateProgramRequest,
) (*pulumirpc.GenerateProgramResponse, error) {
	loader, err := schema.NewLoaderClient(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	parser := syntax.NewParser()
	for path, contents := range request.Source {
		if err := parser.ParseFile(strings.NewReader(contents), path); err != nil {
			return nil, err
		}
		if parser.Diagnostics.HasErrors() {
			return nil, parser.Diagnostics
		}
	}
	var options []pcl.BindOption
	if !request.Strict {
		options = pcl.NonStrictBindOptions()
	}
	program, diagnostics, err := pcl.BindProgram(parser.Files, schema.NewCachedLoader(loader), options...)
	if err != nil {
		return nil, err
	}
	response := pulumirpc.GenerateProgramResponse{}
	if !diagnostics.HasErrors() {
		files, more, err := p.generate(program)
		if err != nil {
			return nil, err
		}
		response.Source, diagnostics = files, append(diagnostics, more...)
	}
	response.Diagnostics = plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)
	return &response, nil
}
