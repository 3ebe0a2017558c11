/** Places that backups are made in and restored to, and what lies in a database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { shapesOf, summed, writeAlike } from '#db/copy/source'
import { openPglite, openPostgres } from '#db/open'
import { dataDirOf } from '#runtime/server/settings'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-copy-'))
  whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'copy')
}

/** Where nothing is: a folder, and a database without a store where the suite runs on a server. */
export async function emptyPlace(): Promise<Record<string, string>> {
  const env = { DATA_DIR: newFolder(), LOG_LEVEL: 'warn' }
  if (!inject('postgresUrl')) return env
  const { database, url } = await freshDatabase()
  await database.close()
  return { ...env, DATABASE_URL: url! }
}

/** The database of an environment. */
export const databaseOf = async ({ DATABASE_URL: url, ...env }: Record<string, string>) =>
  url ? openPostgres(url) : openPglite({ dataDir: join(dataDirOf(env), 'db') })

/** Of each table how many rows it has, and their sum. */
export async function sumsOf(env: Record<string, string>): Promise<Record<string, string>> {
  const database = await databaseOf(env)
  try {
    return await database.root.transaction().execute(async (tx) => {
      await writeAlike(tx)
      const sums: Record<string, string> = {}
      for (const { name } of await shapesOf(tx)) {
        const { rows, sum } = await summed(tx, name)
        sums[name] = `${rows} ${sum}`
      }
      return sums
    })
  } finally {
    await database.close()
  }
}
