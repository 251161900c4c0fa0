/** An environment: groups of servers that are alike but for their role. */
import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as compute from "pulumi-compute-instances";
import { cloudInit } from "./cloudInit";
import type { Role, Settings } from "./settings";

/** What the network project tells. */
interface Network {
  vpcId: pulumi.Input<string>;
  sshKeys: pulumi.Input<string[]>;
  /** Where SSH connections come from. */
  bastion: pulumi.Input<string>;
}

export interface EnvironmentArgs {
  network: Network;
  imageId: string;
  groups: Settings["groups"];
  /** What each server's agent signs in with. */
  agentToken?: pulumi.Input<string>;
}

/** A line of the inventory. */
export interface Server {
  name: string;
  role: Role;
  ipv4: string;
  privateIpv4: string;
}

const packages: Readonly<Record<Role, readonly string[]>> = {
  web: ["nginx", "ufw"],
  worker: ["podman", "ufw"],
};

export class Environment extends pulumi.ComponentResource {
  /** What the names of all its servers begin with. */
  readonly prefix: pulumi.Output<string>;
  readonly inventory: pulumi.Output<Server[]>;

  constructor(name: string, args: EnvironmentArgs, options?: pulumi.ComponentResourceOptions) {
    super("environments-example:index:Environment", name, {}, options);
    // Two environments of one name, in two organizations say, can still be told apart.
    const pet = new random.RandomPet(name, { prefix: name, length: 1 }, { parent: this });
    this.prefix = pet.id;
    const roles = Object.keys(args.groups) as Role[];
    this.inventory = pulumi.output(roles.flatMap((role) => this.#group(name, role, args)));
    this.registerOutputs({ prefix: this.prefix, inventory: this.inventory });
  }

  #group(environment: string, role: Role, args: EnvironmentArgs): pulumi.Output<Server>[] {
    const { network, imageId } = args;
    const { count, flavorId } = args.groups[role];
    const userData = userDataOf(environment, role, args);
    // All that a server is made of: the service changes none of it, so a change makes a new server.
    const inputs = { flavorId, imageId, vpcId: network.vpcId, sshKeys: network.sshKeys, userData };
    return Array.from({ length: count }, (_, index) => {
      const name = `${environment}-${role}-${index + 1}`;
      // The new server comes before the old one goes, and must not have its name.
      const suffix = new random.RandomId(
        name,
        { byteLength: 3, keepers: keepersOf(inputs) },
        { parent: this },
      );
      const server = new compute.Instance(
        name,
        { ...inputs, name: pulumi.interpolate`${this.prefix}-${role}-${index + 1}-${suffix.hex}` },
        { parent: this },
      );
      const { ipv4, privateIpv4 } = server;
      return pulumi.output({ name: server.name, role, ipv4, privateIpv4 });
    });
  }
}

/** Secret where the agent's token is; and to the instance it always is, as the SDK sees to. */
function userDataOf(environment: string, role: Role, args: EnvironmentArgs): pulumi.Output<string> {
  const known = { bastion: args.network.bastion, token: args.agentToken ?? "" };
  return pulumi.output(known).apply(({ bastion, token }) =>
    cloudInit({
      packages: packages[role],
      agentEnvironment: `ENVIRONMENT=${environment}\nROLE=${role}\nTOKEN=${token}\n`,
      bastion,
    }),
  );
}

/** A keeper for each input, so that the preview of a new suffix shows what it is for. */
function keepersOf(inputs: {
  flavorId: string;
  imageId: string;
  vpcId: pulumi.Input<string>;
  sshKeys: pulumi.Input<string[]>;
  userData: pulumi.Output<string>;
}): Record<string, pulumi.Input<string>> {
  return {
    ...inputs,
    // Their order is no change to the service.
    sshKeys: pulumi.output(inputs.sshKeys).apply((keys) => keys.toSorted().join(" ")),
    userData: inputs.userData.apply((text) => createHash("sha256").update(text).digest("hex")),
  };
}
