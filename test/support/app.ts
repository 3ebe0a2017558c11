/** The server under test: the real one, with a fresh copy of the migrated database and a clock that tests control. */

import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Database } from '#db/database'
import { openPostgres } from '#db/open'
import type { MovableClock } from '#runtime/clock'
import type { SectionExtensions } from '#runtime/extensions'
import type { Registry } from '#runtime/registry/loaded'
import { loadRegistry, withExtensions } from '#runtime/registry/registry'
import { type App, type AppOptions, openApp } from '#runtime/server/app'
import { openLog, silentLog } from '#runtime/server/log'
import { readSettings, type Settings } from '#runtime/server/settings'
import { whenFileEnds } from './closing.ts'
import { createDatabase, dropDatabase, withDatabase } from './cluster.ts'
import { reuseDatabase } from './reused-database.ts'
import { frozenClock, restoreForEachTest } from './test-clock.ts'

export interface TestApp extends App {
  clock: MovableClock
  database: Database
  dataDir: string
  /** Until it is closed, by the file's end or before. */
  readonly isOpen: boolean
  /** Sets the clock; jobs scheduled until then become due. */
  setClock(at: Date | string): Promise<void>
  /** Advances the clock. */
  advance(milliseconds: number): Promise<void>
  /** Runs due jobs until none is left; throws if one failed, unless failures are allowed. */
  drainJobs(options?: { allowFailures?: boolean }): Promise<void>
}

let databases = 0

let snapshot: Promise<Blob> | null = null
/**
 * The migrated database for `openPglite`, in memory or in a folder. Read once per process: a Blob's bytes are invisible
 * to the garbage collector, which would let gigabytes pile up.
 */
export function migratedSnapshot(): Promise<Blob> {
  snapshot ??= readFile(inject('snapshot')!).then((bytes) => new Bytes(bytes))
  return snapshot
}

/** Returns its bytes without a copy: Node takes half a second to copy a Blob's. */
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
/** Checked once per process, with its published schemas built once. */
export function wholeRegistry(): Promise<Registry> {
  registry ??= loadRegistry()
  return registry
}

/** Overrides extensions for a test: single and keyed ones are replaced, ordered ones are appended. */
export function overrideExtensions(registry: Registry, given: SectionExtensions): Registry {
  const kept = registry.sectionExtensions.map(({ file, given: before }) => ({
    file,
    given: without(before, given),
  }))
  return withExtensions(registry, [...kept, { file: 'the test', given }])

  function without(before: SectionExtensions, replaced: SectionExtensions): SectionExtensions {
    const declared = Object.assign({}, ...registry.extensionPoints.map((each) => each.declared))
    const rest = Object.entries(before).flatMap(([name, value]) => {
      const by = (replaced as Record<string, object>)[name]
      const { mode } = declared[name]
      if (!by || mode === 'in-order' || mode === 'lists-by-key') return [[name, value]]
      if (mode === 'single') return []
      return [[name, Object.fromEntries(Object.entries(value).filter(([key]) => !(key in by)))]]
    })
    return Object.fromEntries(rest)
  }
}

/** A new database, migrated and empty; deleted when the test file ends. */
export async function freshDatabase(): Promise<{ database: Database; url: string | null }> {
  const server = inject('postgresUrl')
  if (!server) {
    return { database: await reuseDatabase(migratedSnapshot), url: null }
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

/** Opens the server for one test file. `settings` override the environment, `extensions` those of sections. */
export async function testApp(
  settings: Partial<Settings> = {},
  { extensions, ...options }: Partial<AppOptions> & { extensions?: SectionExtensions } = {},
): Promise<TestApp> {
  const registry = options.registry ?? (await wholeRegistry())
  const dataDir = mkdtempSync(join(tmpdir(), 'merchant-app-'))
  const { database } = options.database ? { database: options.database } : await freshDatabase()
  const clock = options.clock ?? frozenClock()
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
    registry: extensions ? overrideExtensions(registry, extensions) : registry,
    database,
    clock,
  })
  const everySoOften = app.registry.jobs.filter(({ spec }) => spec.everySeconds)
  /**
   * A job keeps its distance to the clock, in either direction; scheduled jobs count as just run after a move into the
   * past.
   */
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
  restoreForEachTest(clock, follow, () => app.worker.clockMoved())
  whenFileEnds(async () => {
    await app.close()
    // A given one belongs to an earlier app, which closes later.
    if (!options.database) await database.close()
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
      clock.advance(milliseconds)
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
