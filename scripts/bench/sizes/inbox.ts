/**
 * The inbox at its size: 100,000 conversations and 2,000,000 messages of one store on a PostgreSQL server of its own;
 * prints the 95th percentile of its lists and searches, in milliseconds, through the whole gateway.
 * `npx node scripts/bench/sizes/inbox.ts [conversations] [messages a conversation]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type Database, openPostgres, type RootDatabase } from '#db/database'
import { migrate } from '#db/migrate'
import { createKey } from '#operations/store/lib/keys'
import { createStore } from '#operations/store/lib/stores'
import { openApp } from '#runtime/app'
import { machineClock } from '#runtime/clock'
import { silentLog } from '#runtime/log'
import { allScopes } from '#runtime/operation'
import { readSettings } from '#runtime/settings'
import { throwawayPostgres } from '../../lib/postgres.ts'

const rounds = 20
const vocabulary = 5_000

/** Fills a store, in SQL: words are as unevenly used as in a language. */
export async function prepare(
  db: RootDatabase,
  storeId: string,
  { conversations, messages }: { conversations: number; messages: number },
): Promise<void> {
  const id = sql.lit(storeId)
  const run = (text: ReturnType<typeof sql>): Promise<unknown> => text.execute(db)
  await run(sql`
    insert into contacts (store_id, id, phone, phone_key, profile_name, search_text, tier, created_at, updated_at)
    select ${id}, gen_random_uuid(), phone, phone, name, lower(name),
      case when n % 5 = 0 then 'gold' end, now(), now()
    from (select n, '+5511' || (900000000 + n) as phone, 'Person ' || substr(md5(n::text), 1, 8) as name
      from generate_series(1, ${sql.lit(conversations)}) n) p`)
  await run(sql`
    insert into conversations (store_id, id, contact_id, status, unread_count, pinned_at, last_message_at,
      last_message_direction, last_message_type, last_message_status, last_message_preview, last_inbound_at,
      waiting_since, message_count, created_at, updated_at)
    select ${id}, gen_random_uuid(), id, case when n % 3 = 0 then 'closed' else 'open' end, n % 4,
      case when n % 5000 = 0 then now() end, now() - n * interval '20 seconds', 'inbound', 'text', 'received',
      'Hello there', now() - n * interval '20 seconds',
      case when n % 9 = 0 then now() - n * interval '20 seconds' end, ${sql.lit(messages)}, now(),
      now() - n * interval '20 seconds'
    from (select id, row_number() over () as n from contacts where store_id = ${id}) k`)
  // The index is made at the end, which takes a tenth of the time.
  await run(sql`drop index inbox_messages_words`)
  await run(sql`
    insert into inbox_messages (store_id, id, conversation_id, direction, source, type, text, status,
      provider_message_id, occurred_at, words, created_at, updated_at)
    select ${id}, gen_random_uuid(), c.id, case when i % 2 = 0 then 'inbound' else 'outbound' end,
      case when i % 2 = 0 then 'customer' else 'agent' end, 'text', w.text,
      case when i % 2 = 0 then 'received' else 'read' end, gen_random_uuid()::text, m.at,
      array_to_tsvector(w.words), m.at, m.at
    from conversations c cross join generate_series(0, ${sql.lit(messages - 1)}) i
    cross join lateral (select c.last_message_at - i * interval '7 hours' as at) m
    cross join lateral (
      select array_agg(distinct word) as words, string_agg(word, ' ') as text
      from (select 'w' || substr(md5(pick::text), 1, 2 + pick % 7) as word
        from (select floor(${sql.lit(vocabulary)} * power(random(), 3))::int as pick
          from generate_series(1, 8 + 0 * i + 0 * length(c.id::text))) p) q) w
    where c.store_id = ${id}`)
  await run(sql`create index inbox_messages_words on inbox_messages using gin (store_id, words)`)
  await run(sql`
    insert into inbox_conversation_words (store_id, word, conversation_id)
    select distinct m.store_id, w.word collate "C", m.conversation_id
    from inbox_messages m cross join lateral unnest(tsvector_to_array(m.words)) as w(word)
    where m.store_id = ${id} order by 2, 3`)
}

/** What is asked; `{last}` the deepest page of it. */
const measures: {
  name: string
  path: string
  atMost: number
  query: (round: number) => Record<string, string>
}[] = [
  { name: 'first page', path: '', atMost: 150, query: () => ({ limit: '20' }) },
  { name: 'deepest page', path: '', atMost: 150, query: () => ({ page: '{last}', limit: '100' }) },
  { name: 'open, nobody has it', path: '', atMost: 150, query: () => ({ status: 'open', assignee: 'none' }) },
  { name: 'open, deepest page', path: '', atMost: 150, query: () => ({ status: 'open', page: '{last}' }) },
  { name: 'unread', path: '', atMost: 150, query: () => ({ unread: 'true' }) },
  { name: 'waiting', path: '', atMost: 150, query: () => ({ waiting: 'true' }) },
  { name: 'window open', path: '', atMost: 150, query: () => ({ windowOpen: 'true' }) },
  {
    name: 'window closed, deepest page',
    path: '',
    atMost: 150,
    query: () => ({ windowOpen: 'false', page: '{last}' }),
  },
  { name: 'tier gold, deepest page', path: '', atMost: 150, query: () => ({ tier: 'gold', page: '{last}' }) },
  { name: 'tier none, deepest page', path: '', atMost: 150, query: () => ({ tier: 'none', page: '{last}' }) },
  { name: 'a day', path: '', atMost: 150, query: () => ({ startDate: '{today}', endDate: '{today}' }) },
  {
    name: 'search: a name',
    path: '',
    atMost: 300,
    query: (n) => ({ search: `person ${'abcdef0123456789'[n % 16]}1` }),
  },
  { name: 'search: of everybody', path: '', atMost: 300, query: () => ({ search: 'person' }) },
  { name: 'search: digits', path: '', atMost: 300, query: (n) => ({ search: `9000${10 + n}` }) },
  { name: 'search: a rare word', path: '', atMost: 300, query: (n) => ({ search: `{word:${4000 + n}}` }) },
  { name: 'search: a common word', path: '', atMost: 300, query: (n) => ({ search: `{word:${10 + n}}` }) },
  { name: 'search: the commonest word', path: '', atMost: 300, query: () => ({ search: '{word:0}' }) },
  { name: 'search: a beginning', path: '', atMost: 300, query: () => ({ search: 'w1a' }) },
  {
    name: 'search: two words',
    path: '',
    atMost: 300,
    query: (n) => ({ search: `{word:${100 + n}} {word:${200 + n}}` }),
  },
  { name: 'search: two common words', path: '', atMost: 300, query: () => ({ search: '{word:0} {word:1}' }) },
  {
    name: 'search: common, deepest page',
    path: '',
    atMost: 300,
    query: () => ({ search: '{word:5}', page: '{last}' }),
  },
  { name: 'messages', path: '/{id}/messages', atMost: 150, query: () => ({ limit: '20' }) },
  { name: 'messages, search', path: '/{id}/messages', atMost: 300, query: () => ({ search: '{word:3}' }) },
]

const [conversations = 100_000, messages = 20] = process.argv.slice(2).map(Number)
const server = await throwawayPostgres({ durable: false })
const dataDir = mkdtempSync(join(tmpdir(), 'inbox-size-'))
try {
  const database = openPostgres(server.url, { reads: 3, transactions: 4 })
  await migrate(database)
  await measure(database)
} finally {
  rmSync(dataDir, { recursive: true, force: true })
  await server.stop()
}

async function measure(database: Database): Promise<void> {
  const clock = machineClock()
  const app = await openApp({
    settings: {
      ...readSettings({
        DATA_DIR: dataDir,
        SECRET_KEY: 'of one run, and of no other: 0123456789',
        LOG_LEVEL: 'silent',
      }),
      rateLimitStore: 1_000_000,
      rateLimitIp: 1_000_000,
    },
    log: silentLog(),
    strict: false,
    supervise: false,
    database,
    clock,
  })
  const shop = await createStore(database, clock.now(), {
    slug: 'size',
    name: 'Size',
    owner: 'owner@size.example.com',
    ownerName: 'Owner',
    country: 'BR',
    currency: 'BRL',
    timezone: 'America/Sao_Paulo',
    plan: 'scale',
  })
  const { key } = await createKey(database, clock.now(), {
    storeId: shop.id,
    member: 'owner@size.example.com',
    scopes: allScopes,
  })
  const began = performance.now()
  await prepare(database.root, shop.id, { conversations, messages })
  await sql`vacuum analyze`.execute(database.root)
  console.log(`made in ${Math.round((performance.now() - began) / 1000)} s`)
  const words = new Map<string, string>()
  const wordOf = async (n: string): Promise<string> => {
    const { rows } = await sql<{
      word: string
    }>`select 'w' || substr(md5(${n}::text), 1, 2 + ${n}::int % 7) as word`.execute(database.root)
    words.set(n, rows[0]!.word)
    return rows[0]!.word
  }
  const get = async (
    path: string,
    query: Record<string, string>,
  ): Promise<{ total: number; data: { id: string }[] }> => {
    const response = await app.fetch(
      new Request(`http://localhost/v1/inbox/conversations${path}?${new URLSearchParams(query)}`, {
        headers: { authorization: `Bearer ${key}` },
      }),
      { ip: '127.0.0.1' },
    )
    const body = await response.json()
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
    return body as { total: number; data: { id: string }[] }
  }
  const { id } = (await get('', {})).data[0]!
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo' }).format(clock.now())
  for (const { name, path, atMost, query } of measures) {
    const times: number[] = []
    let total = 0
    for (let round = 0; round < rounds; round += 1) {
      const given = query(round)
      for (const [field, value] of Object.entries(given)) {
        let filled = value.replace('{today}', today)
        for (const [all, n] of value.matchAll(/\{word:(\d+)\}/g)) {
          filled = filled.replace(all, words.get(n!) ?? (await wordOf(n!)))
        }
        given[field] = filled
      }
      if (given.page) {
        const { page: _deepest, ...rest } = given
        total = (await get('', { ...rest, limit: '1' })).total
        given.page = String(Math.max(1, Math.ceil(total / Number(given.limit ?? 20))))
      }
      const from = performance.now()
      const answer = await get(path.replace('{id}', id), given)
      times.push(performance.now() - from)
      total = answer.total
    }
    times.sort((a, b) => a - b)
    const p95 = times[Math.ceil(times.length * 0.95) - 1]!
    const verdict = p95 <= atMost ? 'ok  ' : 'SLOW'
    console.log(
      `${verdict} ${name.padEnd(32)} p95 ${p95.toFixed(0).padStart(5)} ms  median ${times[times.length >> 1]!.toFixed(0).padStart(5)} ms  of ${total}`,
    )
  }
  await app.close()
  await database.close()
}
