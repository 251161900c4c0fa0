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
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
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
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
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
	language := strings.TrimSuffix(strings.TrimPrefix(name, "pulumi-language-"), ".exe")
	host := exec.Command(filepath.Join(folder, "compute-host-"+language), os.Args[1:]...)
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	older := &url.URL{Scheme: "http", Host: "127.0.0.1:" + strings.TrimSpace(port)}
	go func() { _ = serve(listener, older, writer{generate: generators[language]}) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if _, err := io.Copy(os.Stdout, printed); err != nil {
		return err
	}
	return host.Wait()
}

// serve answers GenerateProgram, and forwards all other calls to the older host.
func serve(listener net.Listener, older *url.URL, writer writer) error {
	// gRPC is HTTP/2, here without TLS.
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	forward := httputil.ReverseProxy{
		Rewrite:   func(request *httputil.ProxyRequest) { request.SetURL(older) },
		Transport: &http.Transport{Protocols: &protocols},
		// What the program prints arrives at once.
		FlushInterval: -1,
	}
	answer := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32))
	pulumirpc.RegisterLanguageRuntimeServer(answer, writer)
	handle := func(response http.ResponseWriter, request *http.Request) {
		if request.URL.Path == pulumirpc.LanguageRuntime_GenerateProgram_FullMethodName {
			answer.ServeHTTP(response, request)
		} else {
			forward.ServeHTTP(response, request)
		}
	}
	server := http.Server{Protocols: &protocols, Handler: http.HandlerFunc(handle)}
	return server.Serve(listener)
}

// writer answers GenerateProgram.
type writer struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	generate func(*pcl.Program) (map[string][]byte, hcl.Diagnostics, error)
}

// GenerateProgram does what the official language hosts do.
func (w writer) GenerateProgram(
	_ context.Context, request *pulumirpc.GenerateProgramRequest,
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
		files, more, err := w.generate(program)
		if err != nil {
			return nil, err
		}
		response.Source, diagnostics = files, append(diagnostics, more...)
	}
	response.Diagnostics = plugin.HclDiagnosticsToRPCDiagnostics(diagnostics)
	return &response, nil
}
