/** The lookup index (a view; a table on a cluster) matches its source tables after every kind of write. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { indexDefinitions } from '#db/lookup-index/definitions'
import { findStoreIds } from '#db/lookup-index/find'
import { isDuplicate } from '#runtime/errors'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const { root } = app.database
const isDistributed = await app.database.isDistributed()
const now = app.clock.now()

const buildCode = (hash: string) => ({
  id: newId(now.getTime()),
  user_id: newId(now.getTime()),
  code_hash: hash,
  name: 'Ana',
  created_at: now,
  expires_at: now,
})
const findStores = (hash: string) => findStoreIds(root, 'chat-agent-code', [hash])

test('an entry is added, changed and removed with its row', async () => {
  const ctx = await (await store(app)).context()
  const row = buildCode('one')
  expect(await ctx.db.insertInto('chat_agent_codes').values(row).execute()).toHaveLength(1)
  expect(await findStores('one')).toEqual([ctx.store.id])
  const moved = await ctx.db
    .updateTable('chat_agent_codes')
    .set({ code_hash: 'two' })
    .where('id', '=', row.id)
    .returning('name')
    .execute()
  expect(moved).toEqual([{ name: 'Ana' }])
  expect([await findStores('one'), await findStores('two')]).toEqual([[], [ctx.store.id]])
  const [gone] = await ctx.db.deleteFrom('chat_agent_codes').where('id', '=', row.id).execute()
  expect(gone!.numDeletedRows).toBe(1n)
  expect(await findStores('two')).toEqual([])
})

test('a second store cannot take a unique value, and its write is rolled back', async () => {
  const [mine, theirs] = [await (await store(app)).context(), await (await store(app)).context()]
  await mine.db.insertInto('chat_agent_codes').values(buildCode('sole')).execute()
  const second = theirs.db.insertInto('chat_agent_codes').values(buildCode('sole')).execute()
  await expect(second).rejects.toSatisfy((error) => isDuplicate(error, 'chat_agent_codes_code_hash_key'))
  expect(await theirs.db.selectFrom('chat_agent_codes').select('id').execute()).toEqual([])
  expect(await findStores('sole')).toEqual([mine.store.id])
})

test('a rollback also removes the entry', async () => {
  const ctx = await (await store(app)).context()
  const undone = ctx.transaction(async (tx) => {
    await tx.db.insertInto('chat_agent_codes').values(buildCode('undone')).execute()
    expect(await findStoreIds(tx.system, 'chat-agent-code', ['undone'])).toEqual([ctx.store.id])
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  expect(await findStores('undone')).toEqual([])
})

test('an entry stays while another row of the store has the value', async () => {
  const ctx = await (await store(app)).context()
  const template = (name: string) => ({
    ...{ provider_id: 'p1', name, language: 'en', category: 'utility', body: 'Hi', status: 'approved' },
    ...{ created_at: now, updated_at: now },
  })
  await ctx.db.insertInto('message_templates').values(template('a')).execute()
  const other = ctx.db.insertInto('message_templates').values({ ...template('b'), provider_id: 'p2' })
  await other.execute()
  await ctx.db.deleteFrom('message_templates').where('name', '=', 'a').execute()
  expect(await findStoreIds(root, 'message-template', ['p1'])).toEqual([])
  expect(await findStoreIds(root, 'message-template', ['p2'])).toEqual([ctx.store.id])
})

test.runIf(isDistributed)('a write without maintainable entries is refused', async () => {
  const from = root
    .updateTable('chat_agent_codes as c')
    .from('stores as s')
    .set({ code_hash: sql<string>`s.slug` })
    .whereRef('s.id', '=', 'c.store_id')
    .execute()
  await expect(from).rejects.toThrow('without FROM and WITH')
  const within = root
    .with('gone', (db) => db.deleteFrom('chat_agent_codes').returning('id'))
    .selectFrom('gone')
    .selectAll()
    .execute()
  await expect(within).rejects.toThrow('not within WITH')
})

test('the index has the entries that the view shows', async () => {
  const ctx = await (await store(app)).context()
  await ctx.db.insertInto('chat_agent_codes').values(buildCode('listed')).execute()
  await ctx.db
    .insertInto('message_templates')
    .values({
      ...{
        provider_id: 'p9',
        name: 'n',
        language: 'en',
        category: 'utility',
        body: 'Hi',
        status: 'approved',
      },
      ...{ created_at: now, updated_at: now },
    })
    .execute()
  const expected: unknown[] = []
  for (const [table, lines] of Object.entries(indexDefinitions)) {
    const columns = lines.flatMap((line) => line.columns)
    const store = table === 'stores' ? 'id' : 'store_id'
    const { rows } = await sql<Record<string, string | null>>`
      select ${sql.join([store, ...columns].map((name) => sql.ref(name)))} from ${sql.table(table)}
      where ${sql.ref(store)} = ${ctx.store.id}`.execute(root)
    for (const row of rows) {
      for (const { kind, unique, key } of lines) {
        if (key(row) === null) continue
        expected.push({
          ...{ kind, key: key(row), store_id: row[store] },
          is_sole: unique !== undefined,
        })
      }
    }
  }
  const shown = await root.selectFrom('directory').selectAll().where('store_id', '=', ctx.store.id).execute()
  const sorted = (all: unknown[]) => all.map((each) => JSON.stringify(each)).sort()
  expect(sorted(shown)).toEqual(sorted(expected))
  expect(expected.length).toBeGreaterThan(5)
})

test.skipIf(isDistributed)('a lookup of each kind is one index scan', async () => {
  const kinds = Object.values(indexDefinitions).flatMap((lines) => lines.map((line) => line.kind))
  expect(kinds).toHaveLength(15)
  for (const kind of kinds) {
    const plan = await root.transaction().execute(async (tx) => {
      // A table with few rows may be scanned as well.
      await sql`set local enable_seqscan = off`.execute(tx)
      const { rows } = await sql<{ 'QUERY PLAN': string }>`explain select distinct store_id from directory
        where kind = ${sql.lit(kind)} and key = any(${['a', 'b']}::text[])`.execute(tx)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    const message = `${kind}: ${plan}`
    expect(plan.match(/Index (Only )?Scan|Bitmap Index Scan/g), message).toHaveLength(1)
    expect(plan, message).toContain('Index Cond')
    expect(plan, message).not.toContain('Seq Scan')
  }
})
