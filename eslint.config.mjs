/** Types first, then who may import what (ARCHITECTURE.md, "Rooms"). */
import js from "@eslint/js";
import tseslint from "typescript-eslint";

const wire = ["@grpc/*", "@pulumi/*", "@pulumi/**", "google-protobuf", "google-protobuf/**"];
const http = ["undici", "undici/**", "node:http", "node:https", "node:net"];
const rpc = ["**/rpc", "**/rpc/**"];

/** In `files`, nothing of a group (or matching an expression) may be imported, for the reason given. */
const forbid = (files, bans, ignores = []) => ({
  files,
  ignores: ["**/*.test.ts", "**/testing/**", ...ignores],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: bans.map(([what, message]) =>
          Array.isArray(what) ? { group: what, message } : { regex: what, message },
        ),
      },
    ],
  },
});

export default tseslint.config(
  { ignores: ["node_modules/", "bin/", ".tools/", "sdk/", "examples/", "coverage/", "**/*.cjs"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      eqeqeq: "error",
      // A method without `await` keeps the shape of the interface it fills.
      "@typescript-eslint/require-await": "off",
      // Rejections are re-thrown as they came: a signal's reason is an Error of ours.
      "@typescript-eslint/prefer-promise-reject-errors": "off",
    },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly" } },
  },
  forbid(
    ["provider/**/*.ts"],
    [
      [wire, "gRPC and protobuf are known to provider/rpc alone."],
      [http, "The network is known to provider/api alone."],
      [rpc, "provider/rpc adapts to the rest, which does not know it."],
      [["**/emulator/**"], "The provider knows nothing of the emulator."],
    ],
    ["provider/rpc/**", "provider/api/**", "provider/main.ts"],
  ),
  forbid(
    ["provider/rpc/**/*.ts", "provider/main.ts"],
    [
      [http, "provider/rpc speaks to the engine only."],
      [
        ["zod", "**/api/**", "**/resources/**"],
        "Loaded at every start of the plugin, so kept apart.",
      ],
    ],
  ),
  forbid(
    ["provider/api/**/*.ts"],
    [
      [wire, "gRPC and protobuf are known to provider/rpc alone."],
      [
        [...rpc, "**/resources/**", "**/wait/**"],
        "provider/api knows the service and nothing above it.",
      ],
    ],
  ),
  {
    files: ["provider/**/*.ts"],
    ignores: ["**/*.test.ts", "**/testing/**", "provider/api/**"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: ["**/api/contract"],
              allowTypeImports: true,
              message: "The shapes take long to load: types only, and values from api/documented.",
            },
          ],
        },
      ],
    },
  },
  forbid(
    ["emulator/**/*.ts"],
    [
      [
        "provider/(?!api/contract$)",
        "The emulator shares the wire contract with the provider and nothing else.",
      ],
    ],
  ),
);
