/**
 * On a cluster, every statement of a request asks one shard: each operation is called on the demo, what it asks is written
 * down, and the plan of each statement is looked at. Nothing of it runs elsewhere, where there are no shards.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test, vi } from 'vitest'
import { Connection } from '#db/postgres/connection'
import { sqlState } from '#runtime/errors'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { newId } from '#runtime/values/ids'
import { freshDatabase, type TestApp, testApp, wholeRegistry } from '#test/support/app'
import { bodyOf, lastOf, namesInBody, openDemo, pathOf } from './demo.ts'

interface Asked {
  text: string
  parameters: readonly unknown[]
  /** The operation, or the job. */
  asker: string
  isServer: boolean
  /** Why it was not run. */
  refusal: string | null
}

/** What asks more than one shard, or what Citus explains in no way, and why it may. */
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

interface Asker {
  name: string
  /** Of the server's jobs, which look over all stores. */
  isServer: boolean
}
const asking = new AsyncLocalStorage<Asker>()

/** The registry, whose jobs are known by their statements. */
async function watchedRegistry() {
  const registry = await wholeRegistry()
  const jobs = registry.jobs.map((job) => {
    const asker = { name: job.name, isServer: !job.store }
    const run: typeof job.spec.run = (...given) => asking.run(asker, () => job.spec.run(...given))
    return { ...job, spec: { ...job.spec, run } }
  })
  return { ...registry, jobs }
}

/** Every statement asked meanwhile, by its text: asked once, with the values of its first time. */
async function askedBy(call: () => Promise<unknown>, seen: Map<string, Asked>) {
  const askers: (Asker | undefined)[] = []
  const { run: really } = Connection.prototype
  const run = vi.spyOn(Connection.prototype, 'run').mockImplementation(function (this: Connection, ...given) {
    askers.push(asking.getStore())
    return really.apply(this, given)
  })
  try {
    await call()
    for (const [n, [text, parameters]] of run.mock.calls.entries()) {
      const { name, isServer } = askers[n] ?? { name: 'beside requests', isServer: false }
      const refusal = refusalOf(run.mock.settledResults[n])
      const key = `${isServer} ${text}`
      if (refusal || !seen.has(key)) seen.set(key, { text, parameters, asker: name, isServer, refusal })
    }
  } finally {
    run.mockRestore()
  }
}

/** A statement that no database takes, or none that is a cluster: `explain` is told the values, and would take some. */
function refusalOf(result: { type: string; value: unknown } | undefined): string | null {
  if (result?.type !== 'rejected') return null
  return /^(0A|42|XX)/.test(sqlState(result.value) ?? '') ? String(result.value) : null
}

const isAsked = ({ text }: Asked): boolean => /^[\s(]*(select|insert|update|delete|with)\b/i.test(text)

/** As it stands in a text: Citus explains no `insert … select` whose values it has to be given. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `'{${value.map(element).join(',').replaceAll("'", "''")}}'`
  const text = value instanceof Date ? value.toISOString() : plain(value)
  return `'${text.replaceAll("'", "''")}'`
}
const plain = (value: unknown): string =>
  value instanceof Uint8Array
    ? `\\x${Buffer.from(value).toString('hex')}`
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
const element = (value: unknown): string =>
  value === null ? 'null' : JSON.stringify(value instanceof Date ? value.toISOString() : plain(value))

const withValues = ({ text, parameters }: Asked): string =>
  text.replace(/\$(\d+)/g, (_all, n: string) => literal(parameters[Number(n) - 1]))

/** How many shards each part of its plan asks; none where it asks the coordinator alone. Throws what Citus refuses. */
async function shardsOf({ services }: Pick<TestApp, 'services'>, asked: Asked): Promise<number[]> {
  const plan = await services.database.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) ${withValues(asked)}`,
    [],
    'each-time',
  )
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  return [...text.matchAll(/Task Count: (\d+)/g)].map((found) => Number(found[1]))
}

/** Why it is no statement of one shard; null where it is, or may be none. */
async function faultOf(app: Pick<TestApp, 'services'>, asked: Asked): Promise<string | null> {
  if (asked.refusal) return asked.refusal
  try {
    const shards = await shardsOf(app, asked)
    const mayAskAll = asked.isServer || allowed.some(({ text }) => text.test(asked.text))
    return !mayAskAll && shards.some((count) => count > 1) ? `${shards.join(' + ')} shards` : null
  } catch (error) {
    return (error as Error).message
  }
}

const callOf = async (demo: Awaited<ReturnType<typeof openDemo>>, operation: LoadedOperation) => {
  const { spec } = operation
  const names = await demo.namesOf(operation)
  const params = Object.fromEntries(
    [...spec.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => [
      name!,
      names[name!] ?? spec.example?.params?.[name!] ?? '01999f75-a436-74ad-ac3d-9688167e8c09',
    ]),
  )
  const path = pathOf(spec.path, params)
  if (spec.method === 'GET') return () => demo.send('GET', path)
  const read = spec.ifMatch ? await demo.readNow(operation, params, {}).catch(() => ({})) : {}
  const body = bodyOf(operation, read, namesInBody(operation, names))
  return () => demo.send(spec.method, path, body)
}

/** What was queued, and what is due a day later: every job of the server is. */
async function runJobs(app: TestApp): Promise<void> {
  await app.drainJobs({ allowFailures: true })
  await app.advance(24 * 60 * 60_000)
  await app.drainJobs({ allowFailures: true })
}

/** Answers the operations that failed. */
async function callAll(demo: Awaited<ReturnType<typeof openDemo>>, seen: Map<string, Asked>) {
  const { operations } = await wholeRegistry()
  const failed: string[] = []
  for (const operation of operations.toSorted((a, b) => lastOf(a) - lastOf(b))) {
    const call = await callOf(demo, operation)
    await askedBy(async () => {
      const { status } = await asking.run({ name: operation.id, isServer: false }, call)
      if (status >= 500) failed.push(`${operation.id} ${status}`)
    }, seen)
  }
  return failed
}

test.runIf(isCluster)(
  'every statement of an operation, and of a job of a store, asks one shard',
  async () => {
    const demo = await openDemo({ registry: await watchedRegistry() })
    const seen = new Map<string, Asked>()
    expect(await callAll(demo, seen)).toEqual([])
    await askedBy(() => runJobs(demo.app), seen)
    const statements = [...seen.values()].filter(isAsked)
    const faults: string[] = []
    for (const asked of statements) {
      const fault = await faultOf(demo.app, asked)
      if (fault) faults.push(`${asked.asker}: ${fault}: ${asked.text}`)
    }
    expect(faults).toEqual([])
    // Whoever asks is known, and what was asked was looked at.
    const byJobs = statements.filter(({ asker }) => demo.app.registry.jobs.some(({ name }) => name === asker))
    expect(byJobs.filter(({ isServer }) => isServer).length).toBeGreaterThan(50)
    expect(byJobs.filter(({ isServer }) => !isServer).length).toBeGreaterThan(100)
    expect(statements.length).toBeGreaterThan(600)
  },
  300_000,
)

test.runIf(isCluster)('a statement that names no store is found', async () => {
  const asked = {
    text: 'select id from contacts',
    parameters: [],
    asker: 'it',
    isServer: false,
    refusal: null,
  }
  const app = await testApp()
  expect(await faultOf(app, asked)).toMatch(/^\d+ shards$/)
  expect(await faultOf(app, { ...asked, isServer: true })).toBeNull()
  const ofOne = { ...asked, text: 'select id from contacts where store_id = $1', parameters: [newId(0)] }
  expect([await faultOf(app, ofOne), await shardsOf(app, ofOne)]).toEqual([null, [1]])
  const locked = { ...asked, isServer: true, text: 'select id from contacts for update' }
  expect(await faultOf(app, locked)).toMatch(/FOR UPDATE/)
})
