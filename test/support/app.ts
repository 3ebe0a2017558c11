/** The server under test: the real one, over a fresh copy of the migrated database, on a clock that tests set. */

import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Database } from '#db/database'
import { openPostgres } from '#db/open'
import type { MovableClock } from '#runtime/clock'
import type { Registry } from '#runtime/registry/loaded'
import { loadRegistry, rewired } from '#runtime/registry/registry'
import { type App, type AppOptions, openApp } from '#runtime/server/app'
import { openLog, silentLog } from '#runtime/server/log'
import { readSettings, type Settings } from '#runtime/server/settings'
import type { Given } from '#runtime/wiring'
import { whenFileEnds } from './closing.ts'
import { createDatabase, dropDatabase, withDatabase } from './cluster.ts'
import { keptDatabase } from './kept-database.ts'
import { putBackForEachTest, standingClock } from './test-clock.ts'

export interface TestApp extends App {
  clock: MovableClock
  database: Database
  dataDir: string
  /** Until it is closed, by the file's end or before. */
  readonly isOpen: boolean
  /** Stands the clock at an instant; jobs that come due by it are due. */
  setClock(at: Date | string): Promise<void>
  /** Moves the clock forward. */
  advance(milliseconds: number): Promise<void>
  /** Runs every job that is due until none is; throws when one failed, unless told to allow it. */
  drainJobs(options?: { allowFailures?: boolean }): Promise<void>
}

let databases = 0

let snapshot: Promise<Blob> | null = null
/**
 * What `openPglite` makes a migrated database of, in memory or in a folder. Read once for all files of a process: the
 * bytes of a Blob are hidden from the garbage collector, which would let gigabytes of them pile up.
 */
export function migratedSnapshot(): Promise<Blob> {
  snapshot ??= readFile(inject('snapshot')!).then((bytes) => new Bytes(bytes))
  return snapshot
}

/** Handed over as they are: Node copies those of a Blob piece by piece whenever they are read, for half a second. */
class Bytes extends Blob {
  readonly #bytes: Buffer<ArrayBuffer>
  constructor(bytes: Buffer<ArrayBuffer>) {
    super([])
    this.#bytes = bytes
  }
  override async arrayBuffer(): Promise<ArrayBuffer> {
    const { buffer, byteOffset, byteLength } = this.#bytes
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)
  }
}

let registry: Promise<Registry> | null = null
/** Checked once for all files of a process, and its published schemas made once. */
export function wholeRegistry(): Promise<Registry> {
  registry ??= loadRegistry()
  return registry
}

/** With a wiring of a test's own: what it gives takes the place of what has its key, and is heard after the rest. */
export function withWiring(registry: Registry, given: Given): Registry {
  const kept = registry.wirings.map(({ file, given: before }) => ({ file, given: without(before, given) }))
  return rewired(registry, [...kept, { file: 'the test', given }])

  function without(before: Given, replaced: Given): Given {
    const declared = Object.assign({}, ...registry.points.map((each) => each.declared))
    const rest = Object.entries(before).flatMap(([name, value]) => {
      const by = (replaced as Record<string, object>)[name]
      const { how } = declared[name]
      if (!by || how === 'in-order' || how === 'lists-by-key') return [[name, value]]
      if (how === 'single') return []
      return [[name, Object.fromEntries(Object.entries(value).filter(([key]) => !(key in by)))]]
    })
    return Object.fromEntries(rest)
  }
}

/** A database of its own, migrated and empty; gone when the test file ends. */
export async function freshDatabase(): Promise<{ database: Database; url: string | null }> {
  const server = inject('postgresUrl')
  if (!server) {
    return { database: await keptDatabase(migratedSnapshot), url: null }
  }
  databases += 1
  const name = `merchant_test_${process.pid}_${databases}`
  const nodes = inject('nodes')
  await createDatabase(nodes, name, inject('template')!)
  const url = withDatabase(server, name)
  whenFileEnds(() => dropDatabase(nodes, name))
  const pooler = process.env.TEST_DATABASE_POOLER
  const way = pooler ? withDatabase(pooler, name) : url
  return { database: openPostgres(way, { reads: 2, transactions: 6, isPooled: pooler !== undefined }), url }
}

/**
 * Opens the server for one test file. `settings` change what the environment would give, `wiring` what sections give
 * each other (`withWiring`).
 */
export async function testApp(
  settings: Partial<Settings> = {},
  { wiring, ...options }: Partial<AppOptions> & { wiring?: Given } = {},
): Promise<TestApp> {
  const registry = options.registry ?? (await wholeRegistry())
  const dataDir = mkdtempSync(join(tmpdir(), 'merchant-app-'))
  const { database } = options.database ? { database: options.database } : await freshDatabase()
  const clock = options.clock ?? standingClock()
  const app = await openApp({
    settings: {
      ...(await readSettings({
        DATA_DIR: dataDir,
        SECRET_KEY: 'a secret key that only the tests use, 123',
        LOG_LEVEL: 'silent',
      })),
      rateLimitStore: 1_000_000,
      rateLimitIp: 1_000_000,
      keyLeaseMs: 50,
      ...settings,
    },
    log: process.env.TEST_LOG ? openLog(process.env.TEST_LOG) : silentLog(),
    strict: true,
    supervise: false,
    ...options,
    registry: wiring ? withWiring(registry, wiring) : registry,
    database,
    clock,
  })
  const everySoOften = app.registry.jobs.filter(({ spec }) => spec.everySeconds)
  /** A job waits for its instant, whichever way the clock goes; what runs every so often ran just then in the past. */
  const follow = async (elapsed: number): Promise<void> => {
    if (elapsed !== 0) await app.services.queue.advance(elapsed)
    if (elapsed < 0) {
      await database.query(
        `update job_schedules s set next_at = $1::timestamptz + j.every * interval '1 second'
         from unnest($2::text[], $3::float8[]) j(name, every) where j.name = s.name`,
        [
          clock.now(),
          everySoOften.map(({ name }) => name),
          everySoOften.map(({ spec }) => spec.everySeconds),
        ],
      )
    }
    app.worker.clockMoved()
  }
  putBackForEachTest(clock, follow, () => app.worker.clockMoved())
  whenFileEnds(async () => {
    await app.close()
    await database.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  let isOpen = true
  return {
    ...app,
    clock,
    database,
    dataDir,
    get isOpen() {
      return isOpen
    },
    async close() {
      isOpen = false
      await app.close()
    },
    async setClock(at) {
      const before = clock.ms()
      clock.frozenAt = new Date(at).getTime()
      await follow(clock.ms() - before)
    },
    async advance(milliseconds) {
      clock.move(milliseconds)
      await follow(milliseconds)
    },
    async drainJobs({ allowFailures = false } = {}) {
      const { failed, pending } = await app.worker.drain()
      if (pending > 0) throw new Error(`${pending} jobs are still due or running`)
      if (failed > 0 && !allowFailures) throw new Error(`${failed} jobs failed: ${await failures(database)}`)
    },
  }
}

async function failures(database: Database): Promise<string> {
  const rows = await database.query<{ name: string; output: unknown }>(
    `select data->>'job' as name, output from pgboss.job where output is not null and state in ('retry', 'failed')`,
    [],
  )
  return rows.map((row) => `${row.name}: ${JSON.stringify(row.output)}`).join('; ')
}
