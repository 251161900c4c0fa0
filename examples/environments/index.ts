/** The program: an environment on the network of its stack. */
import * as pulumi from "@pulumi/pulumi";
import { Environment } from "./environment";
import { readSettings } from "./settings";

const settings = readSettings();
const network = new pulumi.StackReference("network", {
  name: `${pulumi.getOrganization()}/environments-network/${settings.network}`,
});

const environment = new Environment(
  pulumi.getStack(),
  {
    network: {
      vpcId: network.requireOutput("vpcId"),
      sshKeys: network.requireOutput("sshKeys"),
      bastion: network.requireOutput("bastion").apply(({ privateIpv4 }) => privateIpv4),
    },
    imageId: settings.imageId,
    groups: settings.groups,
    agentToken: new pulumi.Config().getSecret("agentToken"),
  },
  // The servers and their names take it over.
  { protect: settings.protect },
);

// For people, monitoring and configuration management: pulumi stack output --json inventory
export const inventory = environment.inventory;
export const prefix = environment.prefix;
