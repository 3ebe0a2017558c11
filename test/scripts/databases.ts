/** Source and target databases of backups, and their contents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { computeChecksum, readTables, setOutputFormat } from '#db/copy/source'
import { openPglite, openPostgres } from '#db/open'
import { resolveDataDir } from '#runtime/server/settings'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-copy-'))
  whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'copy')
}

/** An empty place: a folder, and a database without a store if the suite runs on a server. */
export async function emptyPlace(): Promise<Record<string, string>> {
  const env = { DATA_DIR: newFolder(), LOG_LEVEL: 'warn' }
  if (!inject('postgresUrl')) return env
  const { database, url } = await freshDatabase()
  await database.close()
  return { ...env, DATABASE_URL: url! }
}

/** Opens the database of an environment. */
export const openFrom = async ({ DATABASE_URL: url, ...env }: Record<string, string>) =>
  url ? openPostgres(url) : openPglite({ dataDir: join(resolveDataDir(env), 'db') })

/** Row count and checksum of each table. */
export async function readSums(env: Record<string, string>): Promise<Record<string, string>> {
  const database = await openFrom(env)
  try {
    return await database.root.transaction().execute(async (tx) => {
      await setOutputFormat(tx)
      const sums: Record<string, string> = {}
      for (const { name } of await readTables(tx)) {
        const { rows, sum } = await computeChecksum(tx, name)
        sums[name] = `${rows} ${sum}`
      }
      return sums
    })
  } finally {
    await database.close()
  }
}
