/** The peer that is not Pulumi: Terraform with its generic REST provider, on the same service. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captured } from "../tools/support/command";
import { token, type Service } from "./service";

export interface TerraformFiles {
  command: string;
  /** Has the REST provider's executable. */
  providers: string;
}

export class TerraformProject implements Disposable {
  private readonly folder = mkdtempSync(join(tmpdir(), "compute-bench-terraform-"));

  constructor(
    private readonly files: TerraformFiles,
    private readonly service: Service,
    private readonly count: number,
  ) {
    // Taken from there, without asking a registry; needs no `terraform init` either.
    writeFileSync(
      join(this.folder, "terraform.rc"),
      `provider_installation {
  dev_overrides { "mastercard/restapi" = ${JSON.stringify(files.providers)} }
  direct {}
}
`,
    );
    writeFileSync(join(this.folder, "main.tf"), this.program());
  }

  /** With the parallelism that the engine of ours is given. */
  async run(command: "apply" | "plan"): Promise<void> {
    const args = [command, ...(command === "apply" ? ["-auto-approve"] : [])];
    const flags = ["-input=false", "-no-color", `-parallelism=${this.count}`];
    await captured(this.files.command, [...args, ...flags], {
      cwd: this.folder,
      env: { ...process.env, TF_CLI_CONFIG_FILE: "terraform.rc", CHECKPOINT_DISABLE: "1" },
    });
  }

  /** The way its documentation has for a service without a call for one object: `read_search`. */
  private program(): string {
    return `terraform {
  required_providers {
    restapi = { source = "mastercard/restapi" }
  }
}
provider "restapi" {
  uri                  = ${JSON.stringify(this.service.url)}
  headers              = { Authorization = "Bearer ${token}", Content-Type = "application/json" }
  write_returns_object = true
  id_attribute         = "id"
}
resource "restapi_object" "web" {
  count       = ${this.count}
  path        = "/instances"
  read_path   = "/instances"
  read_search = { search_key = "id", search_value = "{id}", results_key = "data", query_string = "limit=100" }
  data = jsonencode({
    name      = "web-\${count.index}"
    flavor_id = "standard-2"
    image_id  = "debian-12"
    vpc_id    = "vpc-main"
  })
}
`;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
