/** Pagination of changing lists, and combined filters (rules 1 and 2; the benchmark covers size and time). */
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import assign from '#operations/inbox/conversations/api/assign'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMessages from '#operations/inbox/messages/api/list-messages'
import addTag from '#operations/inbox/tags/api/add-tag'
import createTag from '#operations/inbox/tags/api/create-tag'
import { phoneKey } from '#runtime/values/phone'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const noon = '2026-11-20T12:00:00.000Z'
await app.setClock(noon)
const size = 1_200
const phoneOf = (n: number): string => `+55119${81_000_000 + n}`

/** Conversations a minute apart, the newest an hour old; every fifth closed, every seventh unread. */
async function seedConversations(shop: InboxShop): Promise<void> {
  const { id } = shop
  await app.database.root.transaction().execute(async (tx) => {
    await sql`insert into contacts (store_id, id, phone, phone_key, profile_name, search_text, created_at, updated_at)
      select ${id}::uuid, uuid_v7(${noon}::timestamptz), '+55119' || (81000000 + n), '+55119' || (81000000 + n), 'Person ' || n,
        'person ' || n, ${noon}::timestamptz, ${noon}::timestamptz from generate_series(1, ${size}::int) n`.execute(
      tx,
    )
    await sql`insert into conversations (store_id, id, contact_id, status, unread_count, last_message_id,
        last_message_at, last_message_direction, last_message_type, last_message_status, last_message_preview,
        last_inbound_at, created_at, updated_at)
      select store_id, uuid_v7(${noon}::timestamptz), id, case when n % 5 = 0 then 'closed' else 'open' end,
        case when n % 7 = 0 then 1 else 0 end, uuid_v7(${noon}::timestamptz), at, 'inbound', 'text', 'received', 'Oi', at, at, at
      from (select store_id, id, split_part(profile_name, ' ', 2)::int as n from contacts where store_id = ${id}::uuid) k
      cross join lateral (select ${noon}::timestamptz - interval '1 hour' - n * interval '1 minute' as at) a`.execute(
      tx,
    )
  })
}

interface Row {
  id: string
  phone: string
  updatedAt: string
}

describe('a long list', () => {
  let shop: InboxShop
  beforeAll(async () => {
    shop = await inboxShop(app)
    await seedConversations(shop)
  })
  const pageAfter = async (cursor: string | null, filters: Record<string, string | number> = {}) =>
    (await shop.call(listConversations, { query: { limit: 100, ...filters, ...(cursor ? { cursor } : {}) } }))
      .body as { data: Row[]; total: number; page: number | null; nextCursor: string | null }

  test.runIf(isFullSuite)(
    'a cursor walk over a changing list returns no conversation twice and every unmoved one',
    async () => {
      const met: string[] = []
      const moved = new Set<string>()
      let [cursor, n]: [string | null, number] = [null, 0]
      do {
        const answer = await pageAfter(cursor)
        expect(answer.page).toBe(cursor === null ? 1 : null)
        met.push(...answer.data.map((row) => row.phone))
        cursor = answer.nextCursor
        n += 1
        // A conversation already returned, one not yet returned, and a new one.
        await app.advance(1000)
        for (const phone of [phoneOf(n * 45), phoneOf(size - n * 3), `+5511970000${100 + n}`]) {
          await shop.callback({ phone, text: 'Oi' })
          moved.add(phoneKey(phone))
        }
        await app.drainJobs()
      } while (cursor)
      expect(n).toBeGreaterThan(11)
      expect(new Set(met).size).toBe(met.length)
      const seen = new Set(met.map(phoneKey))
      for (let i = 1; i <= size; i += 1) {
        const key = phoneKey(phoneOf(i))
        if (!moved.has(key)) expect(seen.has(key), key).toBe(true)
      }
      expect((await pageAfter(null)).total).toBe(size + n)
    },
  )

  test('`updatedSince` returns only the changes', async () => {
    const before = (await pageAfter(null)).data[0]!.updatedAt
    await app.setClock(new Date(Date.parse(before) + 1000))
    await shop.write({ phone: phoneOf(1111), text: 'Oi' })
    const since = new Date(new Date(before).getTime() + 1).toISOString()
    const { data, total } = await pageAfter(null, { updatedSince: since })
    expect([total, data.map((row) => phoneKey(row.phone))]).toEqual([1, [phoneKey(phoneOf(1111))]])
    const inclusive = await pageAfter(null, { updatedSince: data[0]!.updatedAt })
    expect(inclusive.total).toBe(1)
  })

  test('combined filters agree with a count in SQL', async () => {
    const tags: string[] = []
    for (const name of ['a', 'b', 'c']) tags.push((await shop.call(createTag, { body: { name } })).body.id)
    const { data } = await pageAfter(null, { status: 'open' })
    for (const [i, row] of data.entries()) {
      if (i % 2 === 0) await shop.call(addTag, { params: { id: row.id }, body: { tagId: tags[i % 3]! } })
      if (i % 5 === 0) {
        await shop.call(assign, { params: { id: row.id }, body: { assigneeId: shop.userId } })
      }
    }
    const expected = await sql<{ n: number }>`
      select count(*)::int as n from conversations c join contacts k on k.store_id = c.store_id and k.id = c.contact_id
      where c.store_id = ${shop.id}::uuid and c.status = 'open' and c.assignee_id is null
        and k.search_text like '%person%' and k.search_text like '%1%' and exists (
          select 1 from inbox_conversation_tags t where t.store_id = c.store_id and t.conversation_id = c.id
            and t.tag_id in (${tags[0]}::uuid, ${tags[1]}::uuid))`.execute(app.database.root)
    const filters = { status: 'open', assignee: 'none', search: 'Person 1' }
    const listed = await pageAfter(null, { ...filters, tag: `${tags[0]},${tags[1]}` })
    expect(expected.rows[0]!.n).toBeGreaterThan(0)
    expect(listed.total).toBe(expected.rows[0]!.n)
    expect(listed.data).toHaveLength(Math.min(100, listed.total))
    const mine = await pageAfter(null, { assignee: 'me' })
    expect(mine.total).toBe((await pageAfter(null, { assignee: shop.userId })).total)
    expect(mine.total).toBe(20)
    for (const [field, value] of [
      ['tag', shop.id],
      ['tag', 'nope'],
      ['assignee', 'nope'],
      ['tier', 'nope'],
    ] as const) {
      expect((await pageAfter(null, { [field]: value })).total).toBe(0)
    }
  })

  test('days are local days of the store, both inclusive', async () => {
    const [{ first, last }] = (
      await sql<{ first: number; last: number }>`
        select count(*) filter (where day = '2026-11-19')::int as first,
          count(*) filter (where day = '2026-11-20')::int as last
        from (select (last_message_at at time zone 'America/Sao_Paulo')::date as day from conversations
          where store_id = ${shop.id}::uuid) d`.execute(app.database.root)
    ).rows as [{ first: number; last: number }]
    const of = async (startDate: string, endDate: string) =>
      (await pageAfter(null, { startDate, endDate })).total
    expect(first).toBeGreaterThan(0)
    expect(await of('2026-11-19', '2026-11-19')).toBe(first)
    expect(await of('2026-11-19', '2026-11-20')).toBe(first + last)
  })

  test('a made-up cursor is refused', async () => {
    const { nextCursor } = await pageAfter(null)
    const [fingerprint, pinned, , id] = JSON.parse(Buffer.from(nextCursor!, 'base64url').toString())
    for (const parts of [
      [fingerprint, pinned, 'yesterday', id],
      [fingerprint, pinned, '2026-11-20 12:00:00+00', 'nope'],
      [fingerprint, pinned],
      'nope',
    ]) {
      const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
      const answer = await shop.call(listConversations, { query: { limit: 100, cursor } })
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('cursor')])
    }
  })
})

test('messages can be paginated and searched while more arrive', async () => {
  const shop = await inboxShop(app)
  const phone = '+5511987654321'
  for (let n = 0; n < 25; n += 1) {
    await shop.callback({ phone, text: n % 2 === 0 ? `Trocar tamanho ${n}` : `Trocar ${n}` })
    await app.advance(1000)
  }
  await app.drainJobs()
  const { id } = await shop.conversation()
  const met: string[] = []
  let cursor: string | null = null
  do {
    const query: Record<string, string | number> = { limit: 10, ...(cursor ? { cursor } : {}) }
    const { body } = await shop.call(listMessages, { params: { id }, query })
    met.push(...body.data.map((each: { text: string }) => each.text))
    cursor = body.nextCursor
    await shop.write({ phone, text: 'New' })
    await app.advance(1000)
  } while (cursor)
  expect(met).toHaveLength(25)
  expect(new Set(met).size).toBe(25)
  const total = async (query: Record<string, string>) =>
    (await shop.call(listMessages, { params: { id }, query })).body.total
  expect(await total({ search: 'trocar tam' })).toBe(13)
  expect(await total({ search: 'tamanho 24' })).toBe(1)
  expect(await total({ search: '%%' })).toBe(0)
  expect(await total({ direction: 'outbound' })).toBe(0)
  expect(await total({ type: 'image,text' })).toBe(28)
  const deep = await shop.call(listMessages, { params: { id }, query: { page: 3, limit: 10 } })
  expect([deep.body.data.length, deep.body.page, deep.body.nextCursor]).toEqual([8, 3, null])
})
