import * as pulumi from "@pulumi/pulumi";
import * as compute from "pulumi-compute-instances";

const config = new pulumi.Config();

const machine = {
  flavorId: config.require("flavorId"),
  imageId: config.require("imageId"),
  vpcId: config.require("vpcId"),
};

const db = new compute.Instance("db", {
  ...machine,
  // Runs once, on the first boot. Change it, and the server is replaced.
  userData: `#cloud-config
packages: [postgresql]
`,
});

const web = new compute.Instance("web", {
  ...machine,
  // This script also changes if `db` is replaced.
  userData: db.privateIpv4.apply(webScript),
});

/** @param dbHost The address at which the web server reaches the database. */
function webScript(dbHost: string): string {
  return `#cloud-config
packages: [nginx]
write_files:
  - { path: /etc/db-host, content: "${dbHost}" }
`;
}

// `pulumi up` waits until the servers run, so their addresses are known here.
export const address = web.ipv4;
