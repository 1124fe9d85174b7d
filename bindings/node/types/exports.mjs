// The values that index.d.ts declares are those that the entry exports, and so are the members of its classes.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const exported = createRequire(import.meta.url)('agenthost');
const path = fileURLToPath(new URL('../package/index.d.ts', import.meta.url));
const program = ts.createProgram([path], { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 });
const checker = program.getTypeChecker();
const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(path)));
const values = symbols.filter(({ flags }) => flags & ts.SymbolFlags.Value);
assert.deepEqual(values.map(({ name }) => name).sort(), Object.keys(exported).sort());

for (const symbol of values.filter(({ flags }) => flags & ts.SymbolFlags.Class)) {
  const methods = [...symbol.members.values()].filter(({ flags }) => flags & ts.SymbolFlags.Method).map(({ name }) => name).filter((name) => !name.startsWith('__'));
  const { prototype } = exported[symbol.name];
  const found = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor' && typeof Object.getOwnPropertyDescriptor(prototype, name).value === 'function');
  assert.deepEqual(methods.sort(), found.sort(), symbol.name);
}
