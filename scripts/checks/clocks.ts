/** Who may read the machine's clock: nobody but the places listed here, checked on the syntax of each file. */
import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import ts from 'typescript'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'
import { reading } from './parse.ts'

/** What a file may read of the machine, and why it must. */
export interface Place {
  reads: readonly string[]
  why: string
}

const stopwatch = ['performance.now', 'process.hrtime', 'process.uptime']
/** Where a stopwatch is refused too: an assertion on one depends on how fast the machine is. */
const untimed = ['test']
const layers = ['db', 'runtime', 'operations', 'test']
const ownClock = 'machineClock'
const sqlClock =
  /(?<![\w.])(?:(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\(\)|current_(?:date|timestamp|time)\b|localtime(?:stamp)?\b)/gi
/** Cheap, and true of every file that could have a fault. */
const suspicious =
  /\bDate\b|DateTime|Temporal|performance|hrtime|uptime|machineClock|now\(\)|_timestamp|current_|localtime|timeofday|diffNow|toRelative|frozenAt/i

const queueTime = "pg-boss keeps its jobs by the database's own time"
const aProcess = 'the processes it starts go by the clock of the machine'

const places: Record<string, Place> = {
  'runtime/clock.ts': { reads: ['Date.now', ownClock], why: 'it is the clock' },
  'runtime/server/app.ts': { reads: [ownClock], why: 'it gives the server its clock' },
  'runtime/jobs/queue.ts': { reads: ['Date.now'], why: queueTime },
  'runtime/jobs/statements.ts': { reads: ['now() in SQL'], why: queueTime },
  'runtime/gateway/idempotency.ts': {
    reads: ['clock_timestamp() in SQL', 'statement_timestamp() in SQL'],
    why: 'instances agree on a lease by the clock of their database: a sandbox moves ours',
  },
  'runtime/server/log.ts': { reads: ['new Date()'], why: 'an operator reads when it was on the machine' },
  'db/embedded/lock.ts': { reads: ['Date.now'], why: 'it compares with the time of a file' },
  'runtime/ports/storage/folder.ts': { reads: ['Date.now'], why: 'it compares with the times of files' },
  'runtime/ports/storage/s3.ts': {
    reads: ['new Date()'],
    why: 'the provider compares a signature with its clock',
  },
  'test/support/test-clock.ts': { reads: [ownClock], why: 'it makes the clock that stands' },
  'test/support/processes.ts': { reads: [ownClock, 'Date.now'], why: aProcess },
  'test/ports/s3-stand-in.ts': { reads: ['Date.now'], why: 'it verifies signatures that carry a time' },
  'test/ports/storage.test.ts': { reads: ['Date.now', 'new Date()'], why: 'it sets the times of files' },
  'test/ports/shopify-stand-in/bucket.ts': {
    reads: ['performance.now'],
    why: 'it gives back what the adapter waits for by its own stopwatch',
  },
  'test/scripts/frozen.full.test.ts': {
    reads: [ownClock, 'performance.now'],
    why: 'it asks whether deadlines hold while another process stands still',
  },
  'test/registry/faults.test.ts': {
    reads: ['now() in SQL', 'current_date in SQL'],
    why: 'it writes them down as faults',
  },
  'test/runtime/idempotency.test.ts': {
    reads: ['performance.now', 'Date.now'],
    why: "it moves the stopwatch of a process that stood still, and claims are dated by the database's own time",
  },
  'test/runtime/log.test.ts': {
    reads: ['performance.now', 'new Date()'],
    why: "both are vitest's there, and stand still",
  },
  'test/operations/sandbox/guard.test.ts': { reads: ['now() in SQL'], why: queueTime },
  'test/runtime/silent.test.ts': {
    reads: ['performance.now'],
    why: 'a deadline is one of the machine: it tells an answer in time from none',
  },
  'test/runtime/worker.test.ts': { reads: ['now() in SQL'], why: queueTime },
  'test/scripts/cli.full.test.ts': { reads: ['Date.now'], why: aProcess },
  'test/scripts/kill-automations.full.test.ts': { reads: ['now() in SQL'], why: aProcess },
  'test/scripts/kill-cancel.full.test.ts': { reads: [ownClock], why: aProcess },
  'test/scripts/kill-export.full.test.ts': { reads: ['Date.now'], why: aProcess },
  'test/scripts/kill-node.full.test.ts': { reads: [ownClock], why: aProcess },
  'test/scripts/kill-stock.full.test.ts': { reads: ['now() in SQL'], why: aProcess },
  'test/scripts/rolling.full.test.ts': { reads: [ownClock], why: aProcess },
  'test/scripts/start.full.test.ts': {
    reads: ['performance.now'],
    why: 'it tells an end by request from one that is cut off after ten seconds',
  },
}

/** The faults of every file below db/, runtime/, operations/ and test/ of a project's root. */
export async function clockFaults(
  root: string,
  allowed: Readonly<Record<string, Place>> = places,
): Promise<Fault[]> {
  const faults: Fault[] = []
  const used = new Set<string>()
  for (const layer of layers) {
    for (const path of await typescriptFiles(join(root, layer))) {
      const file = relative(root, path).split(sep).join('/')
      const code = readFileSync(path, 'utf8')
      if (!suspicious.test(code)) continue
      for (const { reads, line } of readsOf(file, code)) {
        used.add(`${file} ${reads}`)
        if (allowed[file]?.reads.includes(reads)) continue
        faults.push({
          file: `${file}:${line}`,
          wrong: `reads the machine's clock (${reads})`,
          remedy: remedyOf(layer, reads),
        })
      }
    }
  }
  for (const [file, { reads }] of Object.entries(allowed)) {
    for (const each of reads) {
      if (used.has(`${file} ${each}`)) continue
      faults.push({
        file,
        wrong: `no longer reads ${each}`,
        remedy: 'take it off the list of scripts/checks/clocks.ts',
      })
    }
  }
  return faults
}

function remedyOf(layer: string, reads: string): string {
  const listed = 'what really measures the machine is listed with its reason in scripts/checks/clocks.ts'
  if (layer !== 'test') return `ask ctx.clock, or give the instant as a parameter; ${listed}`
  if (stopwatch.includes(reads)) {
    return `assert what was done (calls, rows, steps), not how long it took; ${listed}`
  }
  return `ask app.clock, standingClock() or testsBeginAt of #test/support/test-clock; ${listed}`
}

interface Read {
  reads: string
  line: number
}

const readsOf = (file: string, code: string): Read[] =>
  reading('clocks', file, code, (source) => readsIn(file, source))

function readsIn(file: string, source: ts.SourceFile): Read[] {
  const found: Read[] = []
  const isUntimed = untimed.includes(file.split('/')[0]!)
  const note = (reads: string, at: number): void => {
    found.push({ reads, line: source.getLineAndCharacterOfPosition(at).line + 1 })
  }
  const visit = (node: ts.Node): void => {
    const reads = readOf(node)
    if (reads && (isUntimed || !stopwatch.includes(reads))) note(reads, node.getStart(source))
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      for (const match of node.text.matchAll(sqlClock)) {
        note(`${match[0].toLowerCase()} in SQL`, node.getStart(source))
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const withoutInstant = ['DateTime.local', 'DateTime.utc']
const always = ['Date.now', 'DateTime.now', 'Temporal.Now', ...stopwatch]
const againstNow = ['diffNow', 'toRelative', 'toRelativeCalendar']

/** What one node reads of the machine's time, if anything. */
function readOf(node: ts.Node): string | null {
  if (ts.isNewExpression(node)) {
    return isNamed(node.expression, 'Date') && !node.arguments?.length ? 'new Date()' : null
  }
  if (ts.isCallExpression(node)) {
    if (isNamed(node.expression, 'Date')) return 'Date()'
    const name = nameOf(node.expression)
    return name && withoutInstant.includes(name) && node.arguments.length === 0 ? name : null
  }
  if (ts.isPropertyAccessExpression(node)) {
    if (againstNow.includes(node.name.text)) return node.name.text
    const name = nameOf(node)
    return name && always.includes(name) ? name : null
  }
  if (ts.isBinaryExpression(node)) {
    const letsRun =
      node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      node.right.kind === ts.SyntaxKind.NullKeyword &&
      ts.isPropertyAccessExpression(node.left) &&
      node.left.name.text === 'frozenAt'
    return letsRun ? 'frozenAt = null' : null
  }
  if (isNamed(node, ownClock) && !ts.isImportSpecifier(node.parent)) return ownClock
  return null
}

const isNamed = (node: ts.Node, name: string): boolean => ts.isIdentifier(node) && node.text === name

/** `Date.now`, also of `globalThis.Date.now`; null where it is no such thing. */
function nameOf(node: ts.Expression): string | null {
  if (!ts.isPropertyAccessExpression(node)) return null
  const { expression, name } = node
  if (ts.isIdentifier(expression)) return `${expression.text}.${name.text}`
  if (ts.isPropertyAccessExpression(expression)) return `${expression.name.text}.${name.text}`
  return null
}
