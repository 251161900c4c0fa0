import * as pulumi from "@pulumi/pulumi";
import * as compute from "pulumi-compute-instances";

const config = new pulumi.Config();

const web = new compute.Instance("web", {
  flavorId: config.require("flavorId"),
  imageId: config.require("imageId"),
  vpcId: config.require("vpcId"),
  // Runs once, on the first boot. Change it, and the server is replaced.
  userData: `#cloud-config
packages: [nginx]
`,
});

// `pulumi up` waits until the server runs, so its address is known here.
export const address = web.ipv4;
