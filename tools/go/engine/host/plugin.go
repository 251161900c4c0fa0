package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type runPlugin func(*pulumirpc.RunPluginRequest, grpc.ServerStream) error

// runPolicyPack starts a policy pack for Node.js, as the official language host does. Other plugins are none of ours.
func runPolicyPack(request *pulumirpc.RunPluginRequest, caller grpc.ServerStream) error {
	if request.Kind != "analyzer" {
		return status.Errorf(codes.Unimplemented, "this host runs no plugin of the kind %q", request.Kind)
	}
	pack := request.Info.ProgramDirectory
	// The pack's own SDK has the program that runs it.
	find := exec.CommandContext(caller.Context(), "node", "-p", "require.resolve('@pulumi/pulumi/cmd/run-policy-pack')")
	find.Dir = pack
	runner, err := find.Output()
	if err != nil {
		return fmt.Errorf("find the SDK of the policy pack in %s: %w", pack, err)
	}
	arguments := append([]string{strings.TrimSpace(string(runner))}, request.Args...)
	node := exec.CommandContext(caller.Context(), "node", append(arguments, filepath.Join(pack, request.Info.EntryPoint))...)
	node.Dir = pack
	node.Env = append(os.Environ(), request.Env...)
	// One at a time: a stream takes one message after the other.
	turn := make(chan struct{}, 1)
	node.Stdout = sender{turn, func(text []byte) error {
		return caller.SendMsg(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text}})
	}}
	node.Stderr = sender{turn, func(text []byte) error {
		return caller.SendMsg(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: text}})
	}}
	err = node.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	code := int32(node.ProcessState.ExitCode())
	return caller.SendMsg(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: code}})
}

// sender sends what a program prints.
type sender struct {
	turn chan struct{}
	send func(text []byte) error
}

func (s sender) Write(text []byte) (int, error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return len(text), s.send(text)
}
