/**
 * On a cluster, every statement of a request uses one shard. Calls each operation on the demo, records its statements
 * and checks their plans. Runs only on a cluster.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test, vi } from 'vitest'
import { Connection } from '#db/postgres/connection'
import { sqlState } from '#runtime/errors'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { newId } from '#runtime/values/ids'
import { freshDatabase, type TestApp, testApp, wholeRegistry } from '#test/support/app'
import { buildBody, buildPath, getRunOrder, openDemo, pickBodyNames } from './demo.ts'

interface ExecutedStatement {
  text: string
  parameters: readonly unknown[]
  /** The operation or job. */
  asker: string
  isServer: boolean
  /** Error of a statement that could not run. */
  refusal: string | null
}

/** Statements that may use several shards or that Citus cannot explain, with the reason. */
const allowed: readonly { text: RegExp; why: string }[] = [
  {
    text: /^\s*update api_keys k set last_used_at/,
    why: 'When keys were last used, of all stores that this process served within the last seconds: beside requests, at once.',
  },
  {
    text: /^delete from idempotency_keys where created_at </,
    why: 'A sweep over all stores, beside requests.',
  },
]

const { database } = await freshDatabase()
const isCluster = await database.isDistributed()

interface Caller {
  name: string
  /** Server jobs work on all stores. */
  isServer: boolean
}
const callerStorage = new AsyncLocalStorage<Caller>()

/** The registry with jobs that record themselves as caller. */
async function createTracedRegistry() {
  const registry = await wholeRegistry()
  const jobs = registry.jobs.map((job) => {
    const asker = { name: job.name, isServer: !job.store }
    const run: typeof job.spec.run = (...given) => callerStorage.run(asker, () => job.spec.run(...given))
    return { ...job, spec: { ...job.spec, run } }
  })
  return { ...registry, jobs }
}

/** Records every distinct statement during the call, with its first parameters. */
async function recordStatements(call: () => Promise<unknown>, seen: Map<string, ExecutedStatement>) {
  const askers: (Caller | undefined)[] = []
  const { run: really } = Connection.prototype
  const run = vi.spyOn(Connection.prototype, 'run').mockImplementation(function (this: Connection, ...given) {
    askers.push(callerStorage.getStore())
    return really.apply(this, given)
  })
  try {
    await call()
    for (const [n, [text, parameters]] of run.mock.calls.entries()) {
      const { name, isServer } = askers[n] ?? { name: 'beside requests', isServer: false }
      const refusal = findRefusal(run.mock.settledResults[n])
      const key = `${isServer} ${text}`
      if (refusal || !seen.has(key)) seen.set(key, { text, parameters, asker: name, isServer, refusal })
    }
  } finally {
    run.mockRestore()
  }
}

/** Errors for statements that PostgreSQL or Citus refuses; `explain` with inlined values might accept them. */
function findRefusal(result: { type: string; value: unknown } | undefined): string | null {
  if (result?.type !== 'rejected') return null
  return /^(0A|42|XX)/.test(sqlState(result.value) ?? '') ? String(result.value) : null
}

const isStatement = ({ text }: ExecutedStatement): boolean =>
  /^[\s(]*(select|insert|update|delete|with)\b/i.test(text)

/** SQL literal: Citus cannot explain an `insert … select` with parameters. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `'{${value.map(element).join(',').replaceAll("'", "''")}}'`
  const text = value instanceof Date ? value.toISOString() : toText(value)
  return `'${text.replaceAll("'", "''")}'`
}
const toText = (value: unknown): string =>
  value instanceof Uint8Array
    ? `\\x${Buffer.from(value).toString('hex')}`
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
const element = (value: unknown): string =>
  value === null ? 'null' : JSON.stringify(value instanceof Date ? value.toISOString() : toText(value))

const withValues = ({ text, parameters }: ExecutedStatement): string =>
  text.replace(/\$(\d+)/g, (_all, n: string) => literal(parameters[Number(n) - 1]))

/** Number of shards of each plan part; empty for coordinator-only plans. Throws if Citus refuses the statement. */
async function countShards(
  { services }: Pick<TestApp, 'services'>,
  asked: ExecutedStatement,
): Promise<number[]> {
  const plan = await services.database.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) ${withValues(asked)}`,
    [],
    'each-time',
  )
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  return [...text.matchAll(/Task Count: (\d+)/g)].map((found) => Number(found[1]))
}

/** Why the statement uses several shards; null if it does not or may. */
async function findShardIssue(
  app: Pick<TestApp, 'services'>,
  asked: ExecutedStatement,
): Promise<string | null> {
  if (asked.refusal) return asked.refusal
  try {
    const shards = await countShards(app, asked)
    const mayAskAll = asked.isServer || allowed.some(({ text }) => text.test(asked.text))
    return !mayAskAll && shards.some((count) => count > 1) ? `${shards.join(' + ')} shards` : null
  } catch (error) {
    return (error as Error).message
  }
}

const prepareCall = async (demo: Awaited<ReturnType<typeof openDemo>>, operation: LoadedOperation) => {
  const { spec } = operation
  const names = await demo.namesOf(operation)
  const params = Object.fromEntries(
    [...spec.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => [
      name!,
      names[name!] ?? spec.example?.params?.[name!] ?? '01999f75-a436-74ad-ac3d-9688167e8c09',
    ]),
  )
  const path = buildPath(spec.path, params)
  if (spec.method === 'GET') return () => demo.send('GET', path)
  const read = spec.ifMatch ? await demo.readNow(operation, params, {}).catch(() => ({})) : {}
  const body = buildBody(operation, read, pickBodyNames(operation, names))
  return () => demo.send(spec.method, path, body)
}

/** Runs the queued jobs and those due a day later, which includes every server job. */
async function runJobs(app: TestApp): Promise<void> {
  await app.drainJobs({ allowFailures: true })
  await app.advance(24 * 60 * 60_000)
  await app.drainJobs({ allowFailures: true })
}

/** Returns the operations that failed. */
async function callAll(demo: Awaited<ReturnType<typeof openDemo>>, seen: Map<string, ExecutedStatement>) {
  const { operations } = await wholeRegistry()
  const failed: string[] = []
  for (const operation of operations.toSorted((a, b) => getRunOrder(a) - getRunOrder(b))) {
    const call = await prepareCall(demo, operation)
    await recordStatements(async () => {
      const { status } = await callerStorage.run({ name: operation.id, isServer: false }, call)
      if (status >= 500) failed.push(`${operation.id} ${status}`)
    }, seen)
  }
  return failed
}

test.runIf(isCluster)(
  'every statement of operations and store jobs uses one shard',
  async () => {
    const demo = await openDemo({ registry: await createTracedRegistry() })
    const seen = new Map<string, ExecutedStatement>()
    expect(await callAll(demo, seen)).toEqual([])
    await recordStatements(() => runJobs(demo.app), seen)
    const statements = [...seen.values()].filter(isStatement)
    const faults: string[] = []
    for (const asked of statements) {
      const fault = await findShardIssue(demo.app, asked)
      if (fault) faults.push(`${asked.asker}: ${fault}: ${asked.text}`)
    }
    expect(faults).toEqual([])
    // Statements were recorded with their callers.
    const byJobs = statements.filter(({ asker }) => demo.app.registry.jobs.some(({ name }) => name === asker))
    expect(byJobs.filter(({ isServer }) => isServer).length).toBeGreaterThan(50)
    expect(byJobs.filter(({ isServer }) => !isServer).length).toBeGreaterThan(100)
    expect(statements.length).toBeGreaterThan(600)
  },
  300_000,
)

test.runIf(isCluster)('a statement without store_id is found', async () => {
  const asked = {
    text: 'select id from contacts',
    parameters: [],
    asker: 'it',
    isServer: false,
    refusal: null,
  }
  const app = await testApp()
  expect(await findShardIssue(app, asked)).toMatch(/^\d+ shards$/)
  expect(await findShardIssue(app, { ...asked, isServer: true })).toBeNull()
  const ofOne = { ...asked, text: 'select id from contacts where store_id = $1', parameters: [newId(0)] }
  expect([await findShardIssue(app, ofOne), await countShards(app, ofOne)]).toEqual([null, [1]])
  const locked = { ...asked, isServer: true, text: 'select id from contacts for update' }
  expect(await findShardIssue(app, locked)).toMatch(/FOR UPDATE/)
})
