/** Search within names, emails and phones: matches, bounded counts and the index used. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Plan } from '#db/postgres/pool'
import listCampaigns from '#operations/campaigns/campaigns/api/list-campaigns'
import listMessages from '#operations/campaigns/campaigns/api/list-messages'
import { emptyContent } from '#operations/campaigns/content'
import * as campaigns from '#operations/campaigns/json'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import * as contacts from '#operations/campaigns/lists/contacts'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import * as optOuts from '#operations/messaging/opt-outs/opt-outs'
import { Context } from '#runtime/context'
import { searchedAtMost, smallAtMost } from '#runtime/database/list'
import { toPhonePatterns, toWordsFilter } from '#runtime/database/search'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { isFullSuite, runs } from '#test/support/suite'

const app = await testApp()

const phone = (i: number): string => `+55119${10_000_000 + ((i * 482_711) % 89_999_999)}`

/** Creates campaigns, a list and a campaign's messages with these names; `before`: so many exist already. */
async function named(
  shop: Shop,
  names: string[],
  before = 0,
): Promise<{ listId: string; campaignId: string }> {
  const ctx = await shop.context()
  const at = { created_at: app.clock.now(), updated_at: app.clock.now() }
  const listId = ctx.newId()
  await ctx.db
    .insertInto('contact_lists')
    .values({ id: listId, name: `list ${before}`, source: 'csv', ...at })
    .execute()
  const ids = names.map(() => ctx.newId())
  const rows = names.map((name, i) => ({ id: ids[i]!, name, ...at }))
  for (let from = 0; from < rows.length; from += 1000) {
    const some = rows.slice(from, from + 1000)
    await ctx.db
      .insertInto('campaigns')
      .values(some.map((row) => ({ ...row, content: JSON.stringify(emptyContent), status: 'draft' })))
      .execute()
    const people = some.map((row, i) => {
      const number = phone(before + from + i)
      return { ...row, phone: number, phone_key: number }
    })
    await ctx.db
      .insertInto('list_contacts')
      .values(people.map((row) => ({ ...row, list_id: listId, source: 'csv', email: null })))
      .execute()
    await ctx.db
      .insertInto('campaign_messages')
      .values(people.map((row) => ({ ...row, campaign_id: ids[0]!, status: 'sent' })))
      .execute()
    await ctx.db
      .insertInto('opt_outs')
      .values(people.map(({ name: _name, ...row }) => ({ ...row, source: 'manual' })))
      .execute()
  }
  return { listId, campaignId: ids[0]! }
}
const namesOf = (body: { data: { name: string }[] }): string[] => body.data.map((each) => each.name).sort()

describe('a search text', () => {
  test('matches literally, wildcards included, case-insensitive, however short', async () => {
    const shop = await store(app)
    const { listId, campaignId } = await named(shop, [
      '50% OFF',
      '50x off',
      'a_b',
      'axb',
      'back\\slash',
      'ÁGUA',
    ])
    const cases: [search: string, found: string[]][] = [
      ['50% off', ['50% OFF']],
      ['%', ['50% OFF']],
      ['_', ['a_b']],
      ['a_b', ['a_b']],
      ['\\', ['back\\slash']],
      ['k\\s', ['back\\slash']],
      ['b', ['a_b', 'axb', 'back\\slash']],
      ['água', ['ÁGUA']],
      ['zq', []],
    ]
    for (const [search, found] of cases) {
      const query = { search }
      expect(namesOf((await shop.call(listCampaigns, { query })).body), search).toEqual(found)
      const messages = await shop.call(listMessages, { params: { id: campaignId }, query })
      expect(namesOf(messages.body), search).toEqual(found)
      const people = await shop.call(listContacts, { params: { id: listId }, query })
      expect(namesOf(people.body), search).toEqual(found)
    }
  })

  test('every text index is complete, because PostgreSQL estimates rows only from complete indexes', async () => {
    const partial = await app.database.query(
      `select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
       where a.amname = 'gin' and i.indpred is not null and i.indexprs is not null`,
      [],
    )
    expect(partial).toEqual([])
  })

  test('becomes a pattern, and digits of a phone if it can be one', () => {
    expect(toWordsFilter('5_0%\\ Ação')).toEqual({ search: ['%5\\_0\\%\\\\%', '%acao%'] })
    expect(toPhonePatterns('+55 (11) 9-8', 'BR')).toEqual(['%551198%'])
    expect(toPhonePatterns('55a', 'BR')).toBeNull()
    expect(toPhonePatterns('+ ', 'BR')).toBeNull()
  })
})

test.runIf(isFullSuite)(
  'a store that outgrows the row scan gets the same results, page by page',
  async () => {
    const shop = await store(app)
    const { seed = fc.sample(fc.nat(), 1)[0]! } = fc.readConfigureGlobal()
    const random = fc.sample(
      fc.record({
        search: fc.constantFrom('a', 'ab', 'B', 'a%', 'none', 'c'),
        limit: fc.integer({ min: 1, max: 100 }),
        part: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { seed, ...runs(8) },
    )
    const names: string[] = []
    // Newest first. Each step is searched twice, because the first answer decides how the second is planned.
    const lists: string[] = []
    for (const size of [3, smallAtMost - 3, 1, 1, 2, 400]) {
      const added = Array.from(
        { length: size },
        (_, i) => ['a', 'Ab', 'bc', 'a%', 'd'][(names.length + i) % 5]!,
      )
      lists.push((await named(shop, added, names.length)).listId)
      names.push(...added)
      for (const { search, limit, part } of [...random, ...random]) {
        const found = names.filter((name) => name.toLowerCase().includes(search.toLowerCase())).toReversed()
        const page = 1 + Math.floor((part * found.length) / limit)
        const { body, status } = await shop.call(listCampaigns, { query: { search, limit, page } })
        const received = [status, body.total, body.data.map(({ name }: { name: string }) => name)]
        const wanted = found.slice((page - 1) * limit, page * limit)
        expect(
          received,
          `seed ${seed}: ${JSON.stringify({ size: names.length, search, limit, page })}`,
        ).toEqual([200, found.length, wanted])
      }
      for (const [at, listId] of lists.entries()) {
        const { body } = await shop.call(listContacts, { params: { id: listId }, query: { search: 'b' } })
        expect(body.data.every(({ listId: of }: { listId: string }) => of === listId)).toBe(true)
        if (at === lists.length - 1) expect(body.total).toBe(added.filter((name) => /b/i.test(name)).length)
      }
    }
  },
  60_000,
)

describe('a store that was small at its last search', () => {
  /** The plans of its statements, and a hook before their answers are read. */
  async function watched(shop: Shop) {
    const plans: (Plan | undefined)[] = []
    const held = { until: Promise.resolve() }
    const database = {
      ...app.database,
      async query<Row>(text: string, parameters: readonly unknown[], plan?: Plan) {
        plans.push(plan)
        const { until } = held
        const rows = await app.database.query<Row>(text, parameters, plan)
        await until
        return rows
      },
    }
    const { store: facts, actor, log } = await shop.context()
    const ctx = new Context({ ...app.services, database }, facts, actor, log)
    const found = async (): Promise<number> => {
      const answer = await campaigns.listCampaigns(ctx, { page: 1, limit: 20, search: 'sale' })
      return JSON.parse(answer.text).total
    }
    return { plans, held, found }
  }
  const sales = (count: number): string[] => Array.from({ length: count }, (_, i) => `Sale ${i}`)

  test('is not scanned once it has grown: the same request plans again', async () => {
    const shop = await store(app)
    const { plans, found } = await watched(shop)
    await named(shop, sales(3))
    expect([await found(), await found()]).toEqual([3, 3])
    expect(plans.splice(0)).toEqual(['each-time', 'apart'])
    await named(shop, sales(smallAtMost), 3)
    expect(await found()).toBe(smallAtMost + 3)
    expect(plans.splice(0)).toEqual(['apart', 'each-time'])
    expect(await found()).toBe(smallAtMost + 3)
    expect(plans).toEqual(['each-time'])
  })

  test('gets correct results while an outdated estimate is stored', async () => {
    const shop = await store(app)
    const { held, found } = await watched(shop)
    await named(shop, sales(3))
    await found()
    const late = Promise.withResolvers<void>()
    held.until = late.promise
    const before = found()
    held.until = Promise.resolve()
    await named(shop, sales(smallAtMost), 3)
    expect(await found()).toBe(smallAtMost + 3)
    late.resolve()
    expect(await before).toBe(3)
    expect(await found()).toBe(smallAtMost + 3)
  })
})

describe.runIf(isFullSuite)('in a large list', () => {
  const many = searchedAtMost + 1

  test('a frequent text is counted up to a bound, and paging still works', async () => {
    const shop = await store(app)
    await named(
      shop,
      Array.from({ length: many }, (_, i) => `Sale ${i}`),
    )
    const found = await shop.call(listCampaigns, { query: { search: 'sale', page: 2, limit: 100 } })
    expect(found.body).toMatchObject({ total: searchedAtMost, page: 2 })
    expect(found.body.data).toHaveLength(100)
    expect(found.body.data[0].name).toBe(`Sale ${many - 101}`)
    expect(found.headers.get('x-total-capped')).toBe('true')
    const last = await shop.call(listOptOuts, { query: { search: '5511', page: many, limit: 1 } })
    expect(last.body.data).toHaveLength(1)
    const whole = await shop.call(listCampaigns)
    expect([whole.body.total, whole.headers.get('x-total-capped')]).toEqual([many, null])
    const exact = await shop.call(listCampaigns, { query: { search: 'sale 77' } })
    // Both words occur, in any place.
    const named77 = Array.from({ length: many }, (_, i) => String(i)).filter((n) => n.includes('77'))
    expect([exact.body.total, exact.headers.get('x-total-capped')]).toEqual([named77.length, null])
  })

  test('a rare text uses the trigram index, a frequent one scans from the newest', async () => {
    const shop = await store(app)
    const { listId, campaignId } = await named(
      shop,
      Array.from({ length: 20_000 }, (_, i) => (i === 10 ? 'a rarity' : `Sale ${i}`)),
    )
    await sql`vacuum analyze`.execute(app.database.root)
    const ran: { text: string; parameters: readonly unknown[]; plan: string | undefined }[] = []
    const database = {
      ...app.database,
      query: <Row>(text: string, parameters: readonly unknown[], plan?: Plan) => {
        ran.push({ text, parameters, plan })
        return app.database.query<Row>(text, parameters, plan)
      },
    }
    const { store: facts, actor, log } = await shop.context()
    const ctx = new Context({ ...app.services, database }, facts, actor, log)
    const planOf = async (read: () => Promise<unknown>): Promise<string> => {
      await read()
      const { text, parameters, plan } = ran.at(-1)!
      expect(plan).toBe('each-time')
      const rows = await app.database.query<Record<string, string>>(`explain ${text}`, parameters)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    const page = { page: 1, limit: 20 }
    const rare = { ...page, search: 'rarity' }
    expect(await planOf(() => campaigns.listCampaigns(ctx, rare))).toContain('campaigns_search')
    expect(await planOf(() => campaigns.listMessages(ctx, campaignId, rare))).toContain(
      'campaign_messages_search',
    )
    expect(await planOf(() => contacts.listContacts(ctx, listId, rare))).toContain('list_contacts_search')
    const digits = { ...page, search: phone(77).slice(-8) }
    expect(await planOf(() => optOuts.list(ctx, digits))).toContain('opt_outs_search')
    // Either index by date is fine: the planner considers them equal. It knows that nearly all rows match.
    const common = await planOf(() => campaigns.listCampaigns(ctx, { ...page, search: 'sale' }))
    const walked =
      /Index (?:Only )?Scan(?: Backward)? using campaigns_(?:newest|pkey)(?:_\d+)? on campaigns(?:_\d+)? c(?:_\d+)? .*rows=(\d+)/
    expect(common).toMatch(walked)
    expect(Number(walked.exec(common)![1])).toBeGreaterThan(10_000)
    // Twenty thousand rows of each, on a busy machine.
  })
})
