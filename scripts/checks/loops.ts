/** Loops and waits that nobody could end, found in the syntax of each file. */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'
import { reading } from './parse.ts'

const layers = ['db', 'runtime', 'operations']
/** Adapters of providers: they wait between the tries of one call, whose number and pauses are bounded. */
const adapters: readonly string[] = [
  'operations/capture/mailing-list/',
  'operations/messaging/provider/',
  'operations/store/ecommerce/',
  'operations/subscription/provider/',
]
/** Cheap, and true of every file that could have a fault. */
const suspicious = /\bdo\s*\{|timers/

/** The faults of every file below db/, runtime/ and operations/ of a project's root. */
export async function loopFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const layer of layers) {
    for (const path of await typescriptFiles(join(root, layer))) {
      const code = readFileSync(path, 'utf8')
      if (!suspicious.test(code)) continue
      const file = relative(root, path).split(sep).join('/')
      faults.push(...reading('loops', file, code, (source) => faultsIn(source, file, layer)))
    }
  }
  return faults
}

function faultsIn(source: ts.SourceFile, file: string, layer: string): Fault[] {
  const faults: Fault[] = []
  const note = (node: ts.Node, wrong: string, remedy: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    faults.push({ file: `${file}:${line + 1}`, wrong, remedy })
  }
  const isAdapter = adapters.some((folder) => file.startsWith(folder))
  const wait = layer === 'operations' && !isAdapter ? waitOf(source) : null
  const visit = (node: ts.Node): void => {
    if (ts.isDoStatement(node)) {
      note(
        node,
        'goes on as long as somebody else says so (do … while)',
        'go through pages with pagesOf of #runtime/ports/pages: it notices that they do not end',
      )
    }
    if (wait && ts.isCallExpression(node) && isNamed(node.expression, wait) && !hearsSignal(node)) {
      note(
        node,
        'waits, and does not hear when it is to end',
        'wait with pause or clockReaches of #runtime/pause and the signal of the job, or ctx.services.ending',
      )
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return faults
}

/** What the file calls `setTimeout` of `node:timers/promises`; null where it takes none. */
function waitOf(source: ts.SourceFile): string | null {
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    if (!/^(?:node:)?timers\/promises$/.test(statement.moduleSpecifier.text)) continue
    const bindings = statement.importClause?.namedBindings
    if (!bindings || !ts.isNamedImports(bindings)) continue
    const found = bindings.elements.find(
      ({ name, propertyName }) => (propertyName ?? name).text === 'setTimeout',
    )
    if (found) return found.name.text
  }
  return null
}

/** `wait(ms, value, { signal })`. */
function hearsSignal({ arguments: given }: ts.CallExpression): boolean {
  const options = given[2]
  return (
    options !== undefined &&
    ts.isObjectLiteralExpression(options) &&
    options.properties.some(
      ({ name }) => name !== undefined && ts.isIdentifier(name) && name.text === 'signal',
    )
  )
}

const isNamed = (node: ts.Node, name: string): boolean => ts.isIdentifier(node) && node.text === name
