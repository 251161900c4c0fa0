import * as pulumi from "@pulumi/pulumi";
import * as compute from "pulumi-compute-instances";

const config = new pulumi.Config();
const count = config.requireNumber("count");

// Runs once, on the first boot of each server. Change it, and the servers are replaced.
const userData = `#cloud-config
package_update: true
packages:
  - nginx
`;

const servers = Array.from(
  { length: count },
  (_, index) =>
    new compute.Instance(`web-${index + 1}`, {
      flavorId: "standard-2",
      imageId: "debian-12",
      vpcId: "vpc-main",
      sshKeys: ["key-laptop", "key-ci"],
      userData,
    }),
);

// `pulumi up` waits until the servers run, so their addresses are known here.
export const names = servers.map((server) => server.name);
export const ipv4: pulumi.Input<string>[] = servers.map((server) => server.ipv4);
