/**
 * Types, docstrings, and who may import what: the walls of the rooms in ARCHITECTURE.md. tools/docs/walls.test.ts compares
 * `roomsBelow` with the folders and their imports.
 */
import js from "@eslint/js";
import jsdoc from "eslint-plugin-jsdoc";
import tseslint from "typescript-eslint";

const fromRoot = (folders) => `^(\\.\\./)+(${folders})(/|$)`;
const wire = {
  regex: "^(@grpc|@pulumi|google-protobuf)(/|$)",
  message: "gRPC and protobuf are known to provider/rpc alone.",
};
const http = {
  regex: "^(undici(/|$)|(node:)?(https?|http2|net|tls)$)",
  message: "HTTP is known to provider/api alone.",
};
/** For each room of the provider, the rooms whose files it may import. */
export const roomsBelow = {
  pulumi: [],
  process: ["rpc"],
  rpc: ["process", "pulumi"],
  userData: [],
  api: ["pulumi"],
  config: ["api", "pulumi"],
  evidence: ["api"],
  ledger: ["api", "pulumi"],
  session: ["api", "config", "evidence", "ledger", "pulumi"],
  functions: ["api", "evidence", "pulumi", "session"],
  instance: ["api", "evidence", "pulumi", "session", "userData"],
  create: ["api", "evidence", "instance", "ledger", "pulumi", "session", "userData"],
};
const rooms = Object.keys(roomsBelow);
const above = (room) => ({
  regex: fromRoot(rooms.filter((other) => ![room, ...roomsBelow[room]].includes(other)).join("|")),
  message: `The room ${room} knows ${roomsBelow[room].join(", ") || "none"} of the other rooms (roomsBelow).`,
});
const doors = {
  regex: "/userData/(?!cloudInit$)",
  message: "userData/cloudInit.ts is the door of that room.",
};
const rpc = {
  regex: "/rpc(/|$)",
  message: "provider/rpc adapts to the rest, which does not know it.",
};
/** What the plugin may not import: what builds, tests and measures it, and these folders. */
const outside = (...folders) => ({
  regex: fromRoot(["tools", "tests", "bench", ...folders].join("|")),
  message:
    "Only provider/process/main.ts loads the commands, only cli/emulator.ts the emulator, and nothing of the plugin the rest.",
});
const shapes = {
  regex: "/api/contract$",
  allowTypeImports: true,
  message: "The shapes take long to load: types only, and values from api/serviceConstants.",
};
const loadedAtStart = ["process", "pulumi", "rpc"];
const loadedLater = {
  regex: `^zod$|/(${rooms.filter((room) => !loadedAtStart.includes(room)).join("|")})(/|$)`,
  message: "Loaded at every start of the plugin, so kept apart.",
};

const spread = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "Write the fields without the spread.",
};
const httpStatus = {
  selector: "Literal[raw=/^(?:30[1-8]|40[1-9]|41[0-9]|42[29]|50[1-4])$/]",
  message: "HTTP statuses are known to provider/api alone: RequestError says what they mean.",
};

/** What these files may not import. All of it: another wall of the same files would take its place. */
const wall = (files, bans, ignores = []) => ({
  files,
  ignores: ["**/*.test.ts", "**/testing/**", ...ignores],
  rules: { "@typescript-eslint/no-restricted-imports": ["error", { patterns: bans }] },
});

export default tseslint.config(
  {
    ignores: [
      "node_modules/",
      "bin/",
      ".tools/",
      "sdk/",
      "examples/",
      "templates/",
      "coverage/",
      "**/*.cjs",
    ],
  },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // A promise that is returned without await outlives the `using` or `try` around it.
      "@typescript-eslint/return-await": ["error", "error-handling-correctness-only"],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      eqeqeq: "error",
      "no-restricted-syntax": ["error", spread],
      "no-duplicate-imports": "error",
      // A method without `await` keeps the shape of the interface it fills.
      "@typescript-eslint/require-await": "off",
      // Rejections are re-thrown as they came: a signal's reason is an Error of ours.
      "@typescript-eslint/prefer-promise-reject-errors": "off",
    },
  },
  {
    files: ["**/*.ts"],
    ignores: ["tools/explore.ts"],
    // A parameter says what it is: `record`, `item`, `id`.
    rules: { "id-denylist": ["error", "it"] },
  },
  {
    files: ["provider/**/*.ts", "emulator/**/*.ts", "cli/**/*.ts"],
    ignores: ["**/*.test.ts", "**/testing/**"],
    plugins: { jsdoc },
    rules: {
      "jsdoc/require-jsdoc": [
        "error",
        {
          publicOnly: true,
          enableFixer: false,
          require: {
            ArrowFunctionExpression: true,
            ClassDeclaration: true,
            FunctionDeclaration: true,
          },
          contexts: ["TSInterfaceDeclaration", "TSTypeAliasDeclaration"],
        },
      ],
      "jsdoc/require-throws": "error",
    },
  },
  {
    files: ["provider/**/*.ts", "cli/**/*.ts"],
    ignores: ["**/*.test.ts", "**/testing/**", "provider/api/**"],
    rules: { "no-restricted-syntax": ["error", spread, httpStatus] },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly" } },
  },
  wall(
    ["provider/*.ts"],
    [wire, http, rpc, outside("emulator", "cli"), shapes],
    ["provider/dialer.ts"],
  ),
  ...rooms
    .filter((room) => room !== "rpc" && room !== "api")
    .map((room) =>
      wall(
        [`provider/${room}/**/*.ts`],
        [wire, http, above(room), doors, outside("emulator", "cli"), shapes],
      ),
    ),
  wall(["provider/dialer.ts"], [wire, rpc, outside("emulator", "cli"), shapes]),
  wall(["provider/rpc/**/*.ts"], [http, above("rpc"), outside("emulator", "cli"), loadedLater]),
  wall(["provider/process/main.ts"], [wire, http, rpc, outside("emulator", "cli"), loadedLater]),
  wall(["provider/process/pluginPort.ts"], [wire, rpc, outside("emulator", "cli"), loadedLater]),
  wall(["provider/process/serve.ts"], [wire, http, outside("emulator", "cli"), loadedLater]),
  wall(["provider/api/**/*.ts"], [wire, above("api"), outside("emulator", "cli")]),
  wall(["cli/**/*.ts"], [wire, http, rpc, outside("emulator"), shapes], ["cli/emulator.ts"]),
  // The emulator is a file beside the provider's bundle.
  wall(["cli/emulator.ts"], [wire, http, rpc, outside("emulator(?!/bundled\\.js$)"), shapes]),
  wall(
    ["emulator/**/*.ts"],
    [
      {
        regex: fromRoot("provider(?!/api/(contract|serviceConstants)$)|cli|tools|tests|bench"),
        message: "The emulator shares the wire contract with the provider and nothing else.",
      },
    ],
  ),
  {
    files: ["provider/**/*.ts", "cli/**/*.ts"],
    ignores: ["**/*.test.ts", "**/testing/**"],
    rules: {
      "no-restricted-globals": [
        "error",
        { name: "fetch", message: "A POST needs more than it has (provider/api/http)." },
      ],
    },
  },
);
