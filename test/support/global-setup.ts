/** Once a run: the migrated database that every test file starts from. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPglite, openPostgres } from '#db/open'
import { openQueue } from '#runtime/jobs/queue'
import { loadRegistry } from '#runtime/registry/registry'
import { standingClock } from './test-clock.ts'

declare module 'vitest' {
  interface ProvidedContext {
    snapshot: string | null
    postgresUrl: string | null
    template: string | null
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL ?? null
  project.provide('postgresUrl', url)
  if (url) {
    const template = `merchant_template_${process.pid}`
    const admin = postgres(url, { max: 1, onnotice: () => {} })
    await admin.unsafe(`drop database if exists ${template}`)
    await admin.unsafe(`create database ${template}`)
    await prepare(openPostgres(withDatabase(url, template)))
    project.provide('template', template)
    project.provide('snapshot', null)
    return async () => {
      await admin.unsafe(`drop database if exists ${template} with (force)`)
      await admin.end()
    }
  }
  const folder = await mkdtemp(join(tmpdir(), 'merchant-test-'))
  const database = await openPglite({})
  const file = join(folder, 'snapshot.tar')
  await prepare(database, async () => {
    const dump = await database.pglite!.dumpDataDir('none')
    await writeFile(file, Buffer.from(await dump.arrayBuffer()))
  })
  project.provide('snapshot', file)
  project.provide('template', null)
  return () => rm(folder, { recursive: true, force: true })
}

async function prepare(database: Database, before?: () => Promise<void>): Promise<void> {
  await migrate(database)
  const { jobs } = await loadRegistry()
  const queue = await openQueue(database, jobs, standingClock(), {
    supervise: false,
    onError: (error) => {
      throw error
    },
  })
  await queue.stop()
  await before?.()
  await database.close()
}

export function withDatabase(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
