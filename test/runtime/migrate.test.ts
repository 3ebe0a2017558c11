/** How a start detects whether a database is up to date. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#db/database'
import { findNewerMigration, isMigrated, migrate, NewerDatabase } from '#db/migrate'
import { freshDatabase } from '#test/support/app'
import { testsBeginAt } from '#test/support/test-clock'

describe('a database with all migrations', () => {
  let database: Database
  let isDistributed: boolean
  beforeAll(async () => {
    ;({ database } = await freshDatabase())
    await migrate(database)
    isDistributed = await database.isDistributed()
  })
  afterAll(() => database.close())

  /** Counts statements outside Kysely; statements by Kysely fail. */
  const watched = (): { database: Database; statements: string[] } => {
    const statements: string[] = []
    const query: Database['query'] = (text, ...rest) => {
      statements.push(text)
      return database.query(text, ...rest)
    }
    return { database: { ...database, query, root: null as never }, statements }
  }

  test('is detected as up to date with two statements', async ({ skip }) => {
    skip(isDistributed, 'a cluster is asked how far its tables are distributed, too')
    const { database: given, statements } = watched()
    expect(await migrate(given)).toEqual([])
    expect(await isMigrated(given)).toBe(true)
    expect(statements).toHaveLength(4)
  })

  test('is not up to date if one is missing', async () => {
    const [last] = await database.query<{ name: string; timestamp: string }>(
      'delete from kysely_migration where name = (select max(name) from kysely_migration) returning *',
      [],
    )
    expect(await isMigrated(database)).toBe(false)
    await database.query('insert into kysely_migration (name, timestamp) values ($1, $2)', [
      last!.name,
      last!.timestamp,
    ])
    expect(await isMigrated(database)).toBe(true)
  })

  test('is used by the code of the previous release, and refused by older code', async () => {
    const later = '9999-of-a-later-release'
    await database.query('insert into kysely_migration (name, timestamp) values ($1, $2)', [
      later,
      testsBeginAt.toISOString(),
    ])
    expect(await isMigrated(database)).toBe(true)
    expect(await findNewerMigration(database)).toBe(later)
    expect(await migrate(database)).toEqual([])
    // As a later release records it if its previous one is later than this code.
    await database.query(`update server_settings set value = '"9998-unknown"' where name = 'oldest-code'`, [])
    await expect(migrate(database)).rejects.toThrow(NewerDatabase)
    await expect(migrate(database)).rejects.toThrow(
      'does not know its migration 9999-of-a-later-release: start the version',
    )
    await database.query('delete from kysely_migration where name = $1', [later])
    expect(await findNewerMigration(database)).toBeNull()
  })

  test('is not up to date without the table of migrations', async () => {
    await database.query('alter table kysely_migration rename to hidden', [])
    expect(await isMigrated(database)).toBe(false)
    await database.query('alter table hidden rename to kysely_migration', [])
  })
})
