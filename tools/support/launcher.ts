/** The plugin's executable for each system: a script that starts `start.js` beside it. */

/** For a POSIX shell. `exec`, so that the process the engine knows is the provider itself. */
export function shellLauncher(node: string): string {
  return `#!/bin/sh
# Starts the provider with the Node it was built with. Made by \`npm run build\`.
node=${shellQuote(node)}
case $0 in
  */*) self=$0 ;;
  *) self=./$0 ;;
esac
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=\${self%/*}/$link ;;
  esac
done
if [ ! -x "$node" ]; then
  echo "pulumi-resource-compute: the Node it was built with is gone: $node" >&2
  echo "Run \\\`npm run build\\\` in the provider's repository." >&2
  exit 1
fi
exec "$node" "\${self%/*}/start.js" "$@"
`;
}

export function windowsLauncher(node: string): string {
  return [
    "@echo off",
    "rem Starts the provider with the Node it was built with. Made by `npm run build`.",
    `if not exist "${node}" (`,
    `  echo pulumi-resource-compute: the Node it was built with is gone: ${node} 1>&2`,
    "  echo Run `npm run build` in the provider's repository. 1>&2",
    "  exit /b 1",
    ")",
    `"${node}" "%~dp0start.js" %*`,
    "",
  ].join("\r\n");
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
