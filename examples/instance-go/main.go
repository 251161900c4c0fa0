package main

import (
	"fmt"

	"github.com/compute-instances/pulumi-compute/sdk/go/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

// Runs once, on the first boot of each server. Change it, and the servers are replaced.
const userData = `#cloud-config
package_update: true
packages:
  - nginx
`

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		count, err := config.TryInt(ctx, "count")
		if err != nil {
			return err
		}
		var names, ipv4 pulumi.StringArray
		for number := 1; number <= count; number++ {
			server, err := compute.NewInstance(ctx, fmt.Sprintf("web-%d", number), &compute.InstanceArgs{
				FlavorId: pulumi.String("standard-2"),
				ImageId:  pulumi.String("debian-12"),
				VpcId:    pulumi.String("vpc-main"),
				SshKeys:  pulumi.ToStringArray([]string{"key-laptop", "key-ci"}),
				UserData: pulumi.String(userData),
			})
			if err != nil {
				return err
			}
			names = append(names, server.Name)
			ipv4 = append(ipv4, server.Ipv4)
		}

		// `pulumi up` waits until the servers run, so their addresses are known here.
		ctx.Export("names", names)
		ctx.Export("ipv4", ipv4)
		return nil
	})
}
