/** A program with an error hook, which the language host of Node.js that is at hand does not know. */
import { required } from "../programs";

/** JavaScript for Node.js, with the Automation API: the engine asks the program without a host. */
export const errorHookProgram = `
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
async function program() {
  const hook = new pulumi.ErrorHook("again", ({ errors }) => errors.length < 2);
  const options = { hooks: { onError: [hook] } };
  new pulumi.CustomResource("compute:index:Instance", "web", ${JSON.stringify(required)}, options);
}
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "proj", program }, { workDir: "." })
  .then((stack) => stack.up({ onOutput: console.log }))
  .catch((error) => console.log(String(error)));
`;
