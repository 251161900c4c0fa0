// compute-peer is a minimal provider on the official Go SDK. It offers a resource like that of our provider, answers every
// call at once, and calls no service. `npm run bench` compares our provider with it.
package main

import (
	"context"
	"fmt"
	"os"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// Instance is the resource. The package infer derives the token of the resource from this type.
type Instance struct{}

// InstanceArgs has inputs of our resource, among them all that the bench gives.
type InstanceArgs struct {
	Name           string   `pulumi:"name,optional"`
	FlavorId       string   `pulumi:"flavorId"`
	ImageId        string   `pulumi:"imageId"`
	VpcId          string   `pulumi:"vpcId"`
	SshKeys        []string `pulumi:"sshKeys,optional"`
	UserData       *string  `pulumi:"userData,optional" provider:"secret"`
	UserDataBase64 *string  `pulumi:"userDataBase64,optional" provider:"secret"`
	WaitForPort    *int     `pulumi:"waitForPort,optional"`
}

// InstanceState has outputs of our resource, so that the engine writes about as much state.
type InstanceState struct {
	InstanceArgs
	Status      string    `pulumi:"status"`
	Ipv4        string    `pulumi:"ipv4"`
	Networks    []Network `pulumi:"networks"`
	PrivateIpv4 string    `pulumi:"privateIpv4"`
	CreatedAt   string    `pulumi:"createdAt"`
	TokenKind   string    `pulumi:"tokenKind"`
}

// Network is an entry of the output "networks".
type Network struct {
	Type       string `pulumi:"type"`
	Ipv4       string `pulumi:"ipv4"`
	MacAddress string `pulumi:"macAddress"`
}

// Create answers at once, so that only the engine, the connection and the SDK take time.
func (Instance) Create(
	_ context.Context, _ string, input InstanceArgs, preview bool,
) (string, InstanceState, error) {
	state := InstanceState{InstanceArgs: input}
	if preview {
		return "", state, nil
	}
	state.Status, state.Ipv4, state.PrivateIpv4 = "ACTIVE", "203.0.113.1", "10.0.0.1"
	state.Networks = []Network{{Type: "private", Ipv4: "10.0.0.1", MacAddress: "52:54:00:00:00:01"}}
	state.CreatedAt, state.TokenKind = "2026-01-01T00:00:00Z", "test"
	return "i-" + input.Name, state, nil
}

func main() {
	provider := infer.Provider(infer.Options{
		Resources: []infer.InferredResource{infer.Resource[Instance, InstanceArgs, InstanceState]()},
		ModuleMap: map[tokens.ModuleName]tokens.ModuleName{"main": "index"},
	})
	if err := p.RunProvider("compute", "0.1.0", provider); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
