/** Checks that each table is written by one section, and that reads of another section's tables are listed. */
import { tenantColumn } from '#db/tables'
import type { Issue } from '#runtime/registry/checks'
import { readCode, typescriptFiles } from './files.ts'
import { foreignReads } from './reads.ts'

/** Calls that write a table. `countedRows` and `daySums` pass the table's name to the code that writes it. */
const writes =
  /\b(?:insertInto|updateTable|deleteFrom|mergeInto|countedRows|daySums)(?:<[^<>]*>)?\(\s*(?:'(\w+)|[^'\s)])/g
/** Declarations of settings, which write the table that they name (`runtime/database/settings.ts`). */
const settings = /\bsettings(?:<[^(]*>)?\(\{[\s\S]{0,200}?\btable: '(\w+)'/g
const reads = /\b(?:selectFrom|from|using|innerJoin|leftJoin|rightJoin|fullJoin)\(\s*(\[[^\]]*\]|'[^']*')/g
const writesInSql = /\b(?:insert into|update|delete from|merge into)\s+(?:only\s+)?(\w+)/gi
const readsInSql = /\b(?:from|join|using)\s+(?:only\s+)?(\w+)/gi
const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
const quoted = /'(?:\\.|[^'\\\n])*'/g

/** Files that write a table whose name is in a variable, and why the table belongs to the section. */
const unnamed: Readonly<Record<string, string>> = {
  'operations/messaging/outbox/rows.ts': 'the table of an outbox source, which its section names',
  'operations/store/imports/imports.ts': 'the tables of an importer, which its section names',
  'operations/store/sums/rebuild-days.ts': 'the sums listed in daily-sums.ts',
  'operations/store/sums/daily-sums.ts': 'the tables of the sums, of which there is a list',
  'operations/storefront/events/counters.ts': 'the rows of a section, which names them with their events',
}

/** Tables shared by the sandboxes of several sections, each with its own rows. */
const ofSandboxes: readonly string[] = ['sandbox_modes', 'sandbox_objects']

/** For each table and section: the first file that names the table. */
type Named = Map<string, Map<string, string>>

export async function findTableIssues(
  root: string,
  listed: Readonly<Record<string, readonly string[]>> = foreignReads,
  variables: Readonly<Record<string, string>> = unnamed,
): Promise<Issue[]> {
  const faults: Issue[] = []
  const [written, read]: [Named, Named] = [new Map(), new Map()]
  for (const file of await typescriptFiles(root, 'operations')) {
    const found = findTables(readCode(root, file))
    for (const table of found.written) addTable(written, file, table)
    for (const table of found.read) addTable(read, file, table)
    if (found.writesVariable && !(file in variables)) {
      faults.push({
        file,
        wrong: 'writes a table without naming it, so nobody sees whose it is',
        remedy: 'name it in the statement, or list the file with its reason in scripts/checks/tables.ts',
      })
    }
    if (!found.writesVariable && file in variables) {
      faults.push({
        file,
        wrong: 'writes no variable table any more',
        remedy: 'take it off the list of scripts/checks/tables.ts',
      })
    }
  }
  return [...faults, ...sharedTables(written), ...unlistedReads(read, written, listed)]
}

function findTables(code: string) {
  const bare = code.replace(comments, '')
  const sql = bare.replace(quoted, "''")
  const calls = [...bare.matchAll(writes)].map(([, table]) => table)
  const asked = [...bare.matchAll(reads)].flatMap(([, argument]) => argument!.match(/(?<=')\w+/g) ?? [])
  return {
    writesVariable: calls.includes(undefined),
    written: tenantTables([...calls, ...findNames(bare, settings), ...findNames(sql, writesInSql)]),
    read: tenantTables([...asked, ...findNames(sql, readsInSql)]),
  }
}

const findNames = (code: string, pattern: RegExp): string[] =>
  [...code.matchAll(pattern)].map(([, table]) => table!)

const tenantTables = (names: readonly (string | undefined)[]): string[] =>
  names.filter((name) => name !== undefined && tenantColumn(name) !== null) as string[]

function addTable(named: Named, file: string, table: string): void {
  const section = file.split('/')[1]!
  const files = named.get(table) ?? new Map<string, string>()
  named.set(table, files)
  if (!files.has(section)) files.set(section, file)
}

const sharedTables = (written: Named): Issue[] =>
  [...written].flatMap(([table, files]) => {
    if (files.size < 2 || ofSandboxes.includes(table)) return []
    const all = [...files].map(([section, file]) => `${section} (${file})`)
    return {
      file: [...files.values()][0]!,
      wrong: `${table} is written by ${all.join(' and ')}`,
      remedy: 'let one of them own it, and give the others a function at its index.ts',
    }
  })

/** A table that nothing below operations/ writes belongs to the server: any section may read it. */
function unlistedReads(
  read: Named,
  written: Named,
  listed: Readonly<Record<string, readonly string[]>>,
): Issue[] {
  const foreign = [...read].flatMap(([table, files]) => {
    const owners = written.get(table)
    if (!owners || ofSandboxes.includes(table)) return []
    return [...files]
      .filter(([section]) => !owners.has(section))
      .map(([section, file]) => ({ table, section, file, owners: [...owners.keys()].join(' and ') }))
  })
  const unlisted = foreign.filter(({ table, section }) => !listed[table]?.includes(section))
  const outlived = Object.entries(listed).flatMap(([table, sections]) =>
    sections
      .filter((section) => !foreign.some((each) => each.table === table && each.section === section))
      .map((section) => ({ table, section })),
  )
  return [
    ...unlisted.map(({ table, file, owners }) => ({
      file,
      wrong: `reads ${table}, which ${owners} owns`,
      remedy: 'ask its index.ts, or decide that the section may, in scripts/checks/reads.ts',
    })),
    ...outlived.map(({ table, section }) => ({
      file: `operations/${section}`,
      wrong: `reads ${table} no longer`,
      remedy: 'take it off the list of scripts/checks/reads.ts',
    })),
  ]
}
