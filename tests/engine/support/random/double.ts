/**
 * A test double of the `random` provider, for machines without the real one. It has RandomPet and RandomId, as the
 * documentation of the provider describes them. The engine starts it as a process.
 */
import { randomBytes, randomInt } from "node:crypto";
import { main } from "@pulumi/pulumi/provider";

type Inputs = Readonly<Record<string, unknown>>;

const adjectives = ["brave", "calm", "eager", "fair", "keen", "lucky", "merry", "proud"] as const;
const animals = ["badger", "crane", "heron", "lynx", "marten", "otter", "raven", "stoat"] as const;

const pick = (words: readonly string[]) => words[randomInt(words.length)];

const resources: Readonly<Record<string, (inputs: Inputs) => { id: string; outs: object }>> = {
  "random:index/randomPet:RandomPet": ({ length = 2, prefix, separator = "-", ...rest }) => {
    const words = Array.from({ length: Number(length) - 1 }, () => pick(adjectives));
    const parts = [...(prefix === undefined ? [] : [prefix]), ...words, pick(animals)];
    const id = parts.map((part) => `${part as string}`).join(separator as string);
    return { id, outs: { ...rest, length, prefix, separator } };
  },
  "random:index/randomId:RandomId": ({ byteLength, prefix = "", ...rest }) => {
    const bytes = randomBytes(Number(byteLength));
    const hex = bytes.toString("hex");
    const b64Url = bytes.toString("base64url");
    const forms = { b64Std: bytes.toString("base64"), b64Url, dec: `${BigInt(`0x${hex}`)}`, hex };
    const prefixed = Object.entries(forms).map(([form, encoded]) => [
      form,
      `${prefix as string}${encoded}`,
    ]);
    const outs = { ...rest, byteLength, prefix, ...(Object.fromEntries(prefixed) as object) };
    return { id: forms.b64Url, outs };
  },
};

const double = {
  version: "0.0.0-test-double",

  async create(urn: string, inputs: Inputs) {
    const type = urn.split("::")[2]?.split("$").at(-1);
    const make = resources[type ?? ""];
    if (!make) throw new Error(`the test double of the random provider does not know ${type}`);
    return make(inputs);
  },

  /** A change of any input replaces the resource, as in the real provider. */
  async diff(_id: string, _urn: string, olds: Inputs, news: Inputs) {
    const isSame = (key: string) => JSON.stringify(olds[key]) === JSON.stringify(news[key]);
    const replaces = Object.keys(news).filter((key) => !key.startsWith("__") && !isSame(key));
    return { changes: replaces.length > 0, replaces };
  },
};

void main(double, process.argv.slice(2));
