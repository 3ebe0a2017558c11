/** Who writes a table owns it, and who reads another's table is listed: checked on the files' syntax. */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import ts from 'typescript'
import { tenantColumn } from '#db/tables'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'
import { reading } from './parse.ts'
import { foreignReads } from './reads.ts'
import { calledOf, isText } from './source.ts'

const writing: readonly string[] = [
  'insertInto',
  'updateTable',
  'deleteFrom',
  'mergeInto',
  // What hands a table of its caller's section to who writes it (storefront/events/counters.ts, store/sums/day-sums.ts).
  'countedRows',
  'daySums',
]
const asking: readonly string[] = [
  'selectFrom',
  'from',
  'using',
  'innerJoin',
  'leftJoin',
  'rightJoin',
  'fullJoin',
]
const writtenInSql = /\b(?:insert into|update|delete from|merge into)\s+(?:only\s+)?(\w+)/gi
const readInSql = /\b(?:from|join|using)\s+(?:only\s+)?(\w+)/gi
/** What writes the table that it is told by name (`runtime/database/settings.ts`). */
const declaring = 'settings'

/** Cheap, and true of every file that could name a table. */
const suspicious = new RegExp(
  `${[...writing, ...asking, declaring].join('|')}|insert|update|delete|merge|from|join`,
  'i',
)

/** Writes whose table is a variable, and why that is one of the section's own. */
const unnamed: Readonly<Record<string, string>> = {
  'operations/messaging/outbox/rows.ts':
    'the table of a lane, which its section names where it declares the lane',
  'operations/store/imports/imports.ts':
    'the tables of an importer, which its section names where it declares it',
  'operations/store/sums/rebuild-days.ts': 'it goes through the sums that day-sums.ts lists',
  'operations/store/sums/day-sums.ts': 'the tables of the sums, of which there is a list',
  'operations/storefront/events/counters.ts':
    'the rows of a section, which names them where it wires their events',
}

/** Tables that the sandboxes of several sections have their rows in, each its own: nobody owns them, and anybody reads them. */
const ofSandboxes: readonly string[] = ['sandbox_modes', 'sandbox_objects']

/** By section and table, the first file that names it. */
type Named = Map<string, Map<string, string>>

/** The faults of every file below operations/ of a project's root. */
export async function tableFaults(
  root: string,
  reads: Readonly<Record<string, readonly string[]>> = foreignReads,
  variables: Readonly<Record<string, string>> = unnamed,
): Promise<Fault[]> {
  const faults: Fault[] = []
  const [written, read]: [Named, Named] = [new Map(), new Map()]
  const used = new Set<string>()
  for (const path of await typescriptFiles(join(root, 'operations'))) {
    const code = readFileSync(path, 'utf8')
    if (!suspicious.test(code)) continue
    const file = relative(root, path).split(sep).join('/')
    const found = reading('tables', file, code, tablesIn)
    for (const table of found.written) note(written, file, table)
    for (const table of found.read) note(read, file, table)
    if (found.unnamed.length > 0) used.add(file)
    if (!(file in variables)) faults.push(...found.unnamed.map((line) => unnamedAt(file, line)))
  }
  const owners = ownersOf(written)
  return [
    ...faults,
    ...shared(written),
    ...foreign(read, owners, reads),
    ...stale('writes no variable table any more', variables, (file) => used.has(file)),
  ]
}

/** Tables by name, and the lines that write one without. */
function tablesIn(source: ts.SourceFile): { written: string[]; read: string[]; unnamed: number[] } {
  const found = { written: new Set<string>(), read: new Set<string>(), unnamed: [] as number[] }
  const visit = (node: ts.Node): void => {
    for (const table of tablesOf(node, writing, writtenInSql)) found.written.add(table)
    for (const table of tablesOf(node, asking, readInSql)) found.read.add(table)
    if (writesVariable(node)) {
      found.unnamed.push(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { written: [...found.written], read: [...found.read], unnamed: found.unnamed }
}

const unnamedAt = (file: string, line: number): Fault => ({
  file: `${file}:${line}`,
  wrong: 'writes a table without naming it, so nobody sees whose it is',
  remedy: 'name it in the statement, or list the file with its reason in scripts/checks/tables.ts',
})

function* tablesOf(node: ts.Node, calls: readonly string[], inSql: RegExp): Generator<string> {
  if (ts.isCallExpression(node) && calls.includes(calledOf(node) ?? '')) {
    const [first] = node.arguments
    const named = !first ? [] : ts.isArrayLiteralExpression(first) ? first.elements : [first]
    for (const each of named) if (ts.isStringLiteralLike(each)) yield* known(each.text.split(' ')[0]!)
  }
  if (ts.isCallExpression(node) && calledOf(node) === declaring && calls === writing) {
    const [spec] = node.arguments
    if (spec && ts.isObjectLiteralExpression(spec)) {
      for (const each of spec.properties) {
        if (!ts.isPropertyAssignment(each) || each.name.getText() !== 'table') continue
        if (ts.isStringLiteralLike(each.initializer)) yield* known(each.initializer.text)
      }
    }
  }
  if (isText(node) && node.parent && isSql(node)) {
    for (const [, table] of node.text.matchAll(inSql)) yield* known(table!)
  }
}

function* known(table: string): Generator<string> {
  if (tenantColumn(table) !== null) yield table
}

/** Within a template of `sql`. */
function isSql(node: ts.Node): boolean {
  const template = ts.isTemplateSpan(node.parent) ? node.parent.parent : node
  const whole = ts.isTemplateHead(node) ? node.parent : template
  return ts.isTaggedTemplateExpression(whole.parent) && /^sql\b/.test(whole.parent.tag.getText())
}

function writesVariable(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  if (!writing.includes(node.expression.name.text)) return false
  const [first] = node.arguments
  return first !== undefined && !ts.isStringLiteralLike(first)
}

function note(named: Named, file: string, table: string): void {
  const section = file.split('/')[1]!
  const files = named.get(table) ?? new Map<string, string>()
  named.set(table, files)
  if (!files.has(section)) files.set(section, file)
}

const ownersOf = (written: Named): Map<string, ReadonlySet<string>> =>
  new Map([...written].map(([table, files]) => [table, new Set(files.keys())]))

const shared = (written: Named): Fault[] =>
  [...written].flatMap(([table, files]) => {
    if (files.size < 2 || ofSandboxes.includes(table)) return []
    const [[, file]] = files as unknown as [[string, string]]
    const all = [...files].map(([section, each]) => `${section} (${each})`)
    return [
      {
        file,
        wrong: `${table} is written by ${all.join(' and ')}`,
        remedy: 'let one of them own it, and give the others a function at its door.ts',
      },
    ]
  })

/** A table nobody below operations/ writes is the server's own, or the sandbox's: anybody may read it. */
function foreign(
  read: Named,
  owners: ReadonlyMap<string, ReadonlySet<string>>,
  listed: Readonly<Record<string, readonly string[]>>,
): Fault[] {
  const faults: Fault[] = []
  const found = new Set<string>()
  for (const [table, files] of read) {
    const own = owners.get(table)
    if (!own || ofSandboxes.includes(table)) continue
    for (const [section, file] of files) {
      if (own.has(section)) continue
      found.add(`${table} ${section}`)
      if (listed[table]?.includes(section)) continue
      faults.push({
        file,
        wrong: `reads ${table}, which ${[...own].join(' and ')} owns`,
        remedy: 'ask its door.ts, or decide that the section may, in scripts/checks/reads.ts',
      })
    }
  }
  for (const [table, sections] of Object.entries(listed)) {
    for (const section of sections.filter((each) => !found.has(`${table} ${each}`))) {
      faults.push({
        file: `operations/${section}`,
        wrong: `reads ${table} no longer`,
        remedy: 'take it off the list of scripts/checks/reads.ts',
      })
    }
  }
  return faults
}

const stale = (
  wrong: string,
  listed: Readonly<Record<string, string>>,
  isUsed: (file: string) => boolean,
): Fault[] =>
  Object.keys(listed)
    .filter((file) => !isUsed(file))
    .map((file) => ({ file, wrong, remedy: 'take it off the list of scripts/checks/tables.ts' }))
