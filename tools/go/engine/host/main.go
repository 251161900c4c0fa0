// A language host that writes programs and SDKs, which `pulumi import` and `pulumi package add` need, and that runs policy
// packs for Node.js, in front of an older host, which runs programs.
//
// The Go proxy has no language host that knows the calls GenerateProgram, GeneratePackage, Link and RunPlugin, but it has
// the libraries that the official hosts call for the first three. This program answers these calls, and forwards all others
// to the older host. The name of the executable, pulumi-language-LANGUAGE, says the language. The older host is compute-host-LANGUAGE in
// the same folder.
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

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// language has what differs between the languages.
type language struct {
	writeProgram writeProgram
	writePackage writePackage
	// Records in the files of a project where its packages are. Returns how a program imports each.
	link link
	// Runs a plugin that is a program, such as a policy pack. Undefined if the older host is to be asked.
	runPlugin runPlugin
}

var languages = map[string]language{
	"nodejs": {nodejs.GenerateProgram, writeNodejs, linkNodejs, runPolicyPack},
	"python": {python.GenerateProgram, writePython, linkPython, nil},
	"go":     {golang.GenerateProgram, writeGo, linkGo, nil},
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
	name = strings.TrimSuffix(strings.TrimPrefix(older, "compute-host-"), ".exe")
	host := exec.Command(filepath.Join(folder, older), append(olderOptions(name), os.Args[1:]...)...)
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
	server := proxy{older: connection, language: languages[name]}
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

// olderOptions returns what an older host takes on its command line, and today's engine sends in its calls. The engine starts
// a host in the folder of the project.
func olderOptions(name string) []string {
	path, err := workspace.DetectProjectPath()
	if name != "python" || err != nil {
		return nil
	}
	project, err := workspace.LoadProject(path)
	if err != nil {
		return nil
	}
	virtualenv, ok := project.Runtime.Options()["virtualenv"].(string)
	if !ok {
		return nil
	}
	return []string{"-virtualenv", virtualenv, "-root", filepath.Dir(path)}
}

// proxy answers the calls that the older host does not know, and forwards all others.
type proxy struct {
	older    *grpc.ClientConn
	language language
}

// handle answers one call. No call of a language host has more than one request.
func (p proxy) handle(_ any, caller grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(caller)
	switch method {
	case pulumirpc.LanguageRuntime_GenerateProgram_FullMethodName:
		return answer(caller, p.language.generateProgram)
	case pulumirpc.LanguageRuntime_GeneratePackage_FullMethodName:
		return answer(caller, p.language.generatePackage)
	case pulumirpc.LanguageRuntime_Link_FullMethodName:
		return answer(caller, p.language.linkPackages)
	case pulumirpc.LanguageRuntime_RunPlugin_FullMethodName:
		if p.language.runPlugin == nil {
			break
		}
		var request pulumirpc.RunPluginRequest
		if err := caller.RecvMsg(&request); err != nil {
			return err
		}
		return p.language.runPlugin(&request, caller)
	}
	return p.forward(method, caller)
}

func answer[Request, Response any](
	caller grpc.ServerStream, call func(context.Context, *Request) (*Response, error),
) error {
	var request Request
	if err := caller.RecvMsg(&request); err != nil {
		return err
	}
	response, err := call(caller.Context(), &request)
	if err != nil {
		return err
	}
	return caller.SendMsg(response)
}

func (p proxy) forward(method string, caller grpc.ServerStream) error {
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
