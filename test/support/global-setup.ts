/** Once per run: the migrated database that every test file starts from. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPglite, openPostgres } from '#db/open'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { createDatabase, dropDatabase, freeze, listNodes, withDatabase } from './cluster.ts'
import { cachedSnapshot } from './snapshot.ts'
import { frozenClock } from './test-clock.ts'

declare module 'vitest' {
  interface ProvidedContext {
    snapshot: string | null
    postgresUrl: string | null
    /** The nodes of its cluster, the coordinator first; otherwise only itself. */
    nodes: readonly string[]
    template: string | null
  }
}

/** Compiled modules of deleted test folders stay in the cache: beyond this number it is emptied. */
const compiledAtMost = 15_000

function boundCompiled(): void {
  const cache = process.env.NODE_COMPILE_CACHE!
  if (!existsSync(cache)) return
  for (const each of readdirSync(cache)) {
    const folder = join(cache, each)
    if (readdirSync(folder).length > compiledAtMost) rmSync(folder, { recursive: true, force: true })
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  boundCompiled()
  const url = process.env.TEST_DATABASE_URL ?? null
  project.provide('postgresUrl', url)
  if (url) {
    const template = `merchant_template_${process.pid}`
    const nodes = await listNodes(url)
    project.provide('nodes', nodes)
    await createDatabase(nodes, template)
    await prepare(openPostgres(withDatabase(url, template)))
    await freeze(nodes, template)
    project.provide('template', template)
    project.provide('snapshot', null)
    return () => dropDatabase(nodes, template)
  }
  project.provide('nodes', [])
  project.provide('snapshot', await cachedSnapshot(embeddedSnapshot))
  project.provide('template', null)
  return () => Promise.resolve()
}

async function embeddedSnapshot(): Promise<Uint8Array> {
  const database = await openPglite({})
  let bytes: Uint8Array | undefined
  await prepare(database, async () => {
    // Its files are in memory, so writing 16 MB of zeros at each start gains nothing.
    for (const name of ['wal_init_zero', 'wal_recycle'])
      await database.script(`alter system set ${name} = off`)
    const dump = await database.pglite!.dumpDataDir('none')
    bytes = new Uint8Array(await dump.arrayBuffer())
  })
  return bytes!
}

async function prepare(database: Database, before?: () => Promise<void>): Promise<void> {
  await migrate(database)
  const { jobs } = await loadRegistry()
  const queue = await openQueue(database, jobs, frozenClock(), {
    supervise: false,
    onError: (error) => {
      throw error
    },
  })
  await queue.stop()
  await before?.()
  await database.close()
}
