/** Finds the calls of the engine and the commands of the plugin that can reach a place in the source of the plugin. */
import { relative } from "node:path";
import ts from "typescript";
import { root } from "./paths";

/** The files whose object literals have one function for each call of the engine. */
const engineCalls = ["provider/provider.ts", "provider/rpc/service.ts"];

/** The names of the files in `cli` that are a command each, and of the one that reads the command line. */
export const commands = ["audit", "discard", "doctor", "emulator", "run"];

/** A part of the source that refers to other parts: a function, a class, a variable outside of functions, or a file. */
type Part = ts.Node;

/** Finds the entries that can reach a node: calls of the engine, commands, and the start of the plugin. */
export class Callers {
  readonly #checker: ts.TypeChecker;
  /** The parts that refer to a part. */
  readonly #referrers = new Map<Part, Set<Part>>();

  constructor(program: ts.Program, files: readonly ts.SourceFile[]) {
    this.#checker = program.getTypeChecker();
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) this.#addReference(node);
      if (!ts.isImportDeclaration(node)) ts.forEachChild(node, visit);
    };
    files.forEach(visit);
  }

  /**
   * Returns the names of the entries that can reach the node, sorted. They may include too many entries, but lack none.
   */
  entriesOf(node: ts.Node): string[] {
    const reached = new Set<Part>([partOf(node)]);
    const entries = new Set<string>();
    // The loop also visits the parts that it adds.
    for (const part of reached) {
      const entry = entryOf(part);
      if (entry !== undefined) entries.add(entry);
      else for (const referrer of this.#referrers.get(part) ?? []) reached.add(referrer);
    }
    return [...entries].sort();
  }

  #addReference(name: ts.Identifier | ts.PrivateIdentifier): void {
    // In `{ name }`, the name stands for the property and for the variable.
    const symbol = ts.isShorthandPropertyAssignment(name.parent)
      ? this.#checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.#checker.getSymbolAtLocation(name);
    const isAlias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    const target = isAlias ? this.#checker.getAliasedSymbol(symbol) : symbol;
    for (const declaration of target?.declarations ?? []) {
      const [from, to] = [partOf(name), partOf(declaration)];
      this.#add(to, from);
      // Every use of an object may call functions that its constructor has passed on.
      if (ts.isClassLike(to.parent)) this.#add(to.parent, from);
    }
  }

  #add(part: Part, referrer: Part): void {
    if (part === referrer) return;
    const referrers = this.#referrers.get(part) ?? new Set();
    this.#referrers.set(part, referrers.add(referrer));
  }
}

/** Returns the innermost part that the node is in, or is the declaration of. */
function partOf(node: ts.Node): Part {
  return ts.findAncestor(node, isPart) ?? node.getSourceFile();
}

function isPart(node: ts.Node): boolean {
  if (ts.isConstructorDeclaration(node) || ts.isPropertyDeclaration(node)) return false;
  if (ts.isVariableDeclaration(node)) {
    const hasFunction = node.initializer !== undefined && ts.isFunctionLike(node.initializer);
    return hasFunction || ts.isSourceFile(node.parent.parent.parent);
  }
  const isMember = ts.isClassElement(node) && ts.isClassLike(node.parent);
  return isMember || ts.isFunctionDeclaration(node) || ts.isClassLike(node) || isEngineCall(node);
}

/** Whether the node is the function of one call of the engine, in the object that an exported function returns. */
function isEngineCall(node: ts.Node): node is ts.PropertyAssignment {
  if (!ts.isPropertyAssignment(node) || !engineCalls.includes(pathOf(node))) return false;
  const statement = node.parent.parent;
  if (!ts.isReturnStatement(statement)) return false;
  const around = statement.parent.parent;
  return ts.isFunctionDeclaration(around) && around.modifiers !== undefined;
}

/** Returns the name of an entry: a call of the engine, a file of `cli`, or the start of the plugin. */
function entryOf(part: Part): string | undefined {
  if (isEngineCall(part)) return part.name.getText();
  const [, command] = /^cli\/(\w+)\.ts$/.exec(pathOf(part)) ?? [];
  if (command !== undefined && commands.includes(command)) return command;
  return /^provider\/(main|start\/\w+)\.ts$/.test(pathOf(part)) ? "start" : undefined;
}

const pathOf = (node: ts.Node) => relative(root, node.getSourceFile().fileName);
