/** The inbox with 100,000 conversations and 2,000,000 messages (inbox, rules 1 and 2). */
import type { Database } from '#db/database'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { area, type Measure } from '../area.ts'
import { fillInbox, tagOf, wordOf } from '../parts/inbox-rows.ts'

interface Filled {
  storeId: string
  key: string
  /** Of the newest conversation. */
  newest: string
  tag: string
  /** The last local day, and the ninth before it. */
  today: string
  from: string
  /** Rows that a WHERE of conversations leaves, by that text. */
  counts: ReadonlyMap<string, number>
}

const timezone = 'America/Sao_Paulo'
const slug = 'bench-inbox'
const messagesEach = 20
const listAtMostMs = 150
const searchAtMostMs = 300

/** Of lists whose deepest page is asked for: the filters, and the same as a WHERE of `conversations`. */
const deepest: [name: string, query: string, where: string][] = [
  ['all', '', 'true'],
  ['open', 'status=open', `status = 'open'`],
  ['closed', 'status=closed', `status = 'closed'`],
  ['nobody has', 'assignee=none', 'assignee_id is null'],
  ['read', 'unread=false', 'unread_count = 0'],
  ['unread', 'unread=true', 'unread_count > 0'],
  ['waiting', 'waiting=true', 'waiting_since is not null'],
  ['not waiting', 'waiting=false', 'waiting_since is null'],
  ['window closed', 'windowOpen=false', `last_inbound_at <= now() - interval '1 day'`],
  ['tier gold', 'tier=gold', `tier = 'gold'`],
  ['tier none', 'tier=none', 'tier is null'],
  ['not pinned', 'pinned=false', 'not is_pinned'],
  [
    'of a tag',
    'tag={tag}',
    `id in (select conversation_id from inbox_conversation_tags where tag_id = '{tag}')`,
  ],
  ['of ten days', 'startDate={from}', `last_message_at >= '{from}'::timestamp at time zone '${timezone}'`],
]

export default area<Filled>({
  name: 'inbox',
  description: 'Every list, filter and search of conversations, the deepest pages included, and messages',
  rows: 100_000,

  async prepare({ database, timed }, rows) {
    const owner = `owner@${slug}.example.com`
    const now = new Date()
    const made = { slug, name: slug, owner, plan: 'scale', country: 'BR', currency: 'BRL', timezone }
    const { id: storeId } = await createStore(database, now, made)
    const { key } = await createKey(database, now, { storeId, member: owner, scopes: [...allScopes] })
    await timed(`filling ${rows * messagesEach} messages`, null, () =>
      fillInbox(database, storeId, { conversations: rows, messagesEach }),
    )
    const today = dayOf(now.getTime())
    const tag = await tagOf(database, storeId)
    const from = dayOf(now.getTime() - 9 * 86_400_000)
    const counts = new Map<string, number>()
    for (const [, , where] of deepest) {
      counts.set(where, await countOf(database, storeId, filled(where, { tag, from })))
    }
    const [first] = await database.query<{ id: string }>(
      'select id from conversations where store_id = $1 order by last_message_at desc limit 1',
      [storeId],
    )
    return { storeId, key, newest: first!.id, tag, today, from, counts }
  },

  measures({ storeId, key, newest, tag, today, from, counts }) {
    const read = (
      name: string,
      path: string,
      atMostMs: number,
      text: string,
      values: unknown[] = [],
    ): Measure => ({
      name,
      path: `/v1/inbox/conversations${path}`,
      key,
      atMostMs,
      bare: { text, values: [storeId, ...values] },
    })
    const rowsWhere = (where: string, offset: number, limit: number): string =>
      `select *, count(*) over () from conversations where store_id = $1 and ${filled(where, { tag, from })}
       order by is_pinned desc, last_message_at desc, id desc offset ${offset} limit ${limit}`
    const list = (name: string, query: string, where: string): Measure =>
      read(name, `?${query}`, listAtMostMs, rowsWhere(where, 0, 20))
    const deep = ([name, query, where]: (typeof deepest)[number]): Measure => {
      const page = Math.max(1, Math.ceil(counts.get(where)! / 100))
      const offset = (page - 1) * 100
      return read(
        `${name}, page ${page} of 100`,
        `?${filled(query, { tag, from })}&page=${page}&limit=100`,
        listAtMostMs,
        rowsWhere(where, offset, 100),
      )
    }
    const containing = `select c.id from conversations c join contacts k on k.store_id = c.store_id and k.id = c.contact_id
      where c.store_id = $1 and k.search_text like $2`
    const withWord = `select distinct conversation_id from inbox_message_words where store_id = $1 and words @@ $2::tsquery`
    const search = (name: string, text: string, bare: string, value: string, more = ''): Measure =>
      read(`search: ${name}`, `?search=${encodeURIComponent(text)}${more}`, searchAtMostMs, bare, [value])
    const named = (name: string, text: string, more?: string): Measure =>
      search(name, text, containing, `%${text}%`, more)
    const written = (name: string, words: readonly string[], more?: string): Measure =>
      search(name, words.join(' '), withWord, words.map((word) => `'${word}':*`).join(' & '), more)
    const messages = (name: string, query: string, atMostMs: number): Measure =>
      read(
        name,
        `/${newest}/messages?${query}`,
        atMostMs,
        `select * from inbox_messages where store_id = $1 and conversation_id = $2 order by occurred_at desc limit 20`,
        [newest],
      )
    return [
      list('first page', 'limit=20', 'true'),
      list(
        'open, nobody has, waiting',
        'status=open&assignee=none&waiting=true',
        `status = 'open' and assignee_id is null and waiting_since is not null`,
      ),
      list('window open', 'windowOpen=true', `last_inbound_at > now() - interval '1 day'`),
      list('one day', `startDate=${today}&endDate=${today}`, `last_message_at >= now() - interval '1 day'`),
      list(
        'changed in the last minute',
        `updatedSince=${new Date(Date.now() - 60_000).toISOString()}`,
        `updated_at > now() - interval '1 minute'`,
      ),
      ...deepest.map(deep),
      named('a name', 'person ab1'),
      named('of every name', 'person'),
      named('of every name, page 5,000', 'person', '&page=5000'),
      search('digits', '900010', `select id from contacts where store_id = $1 and phone like $2`, '%900010%'),
      search(
        'digits of everybody',
        '5511',
        `select id from contacts where store_id = $1 and phone like $2`,
        '%5511%',
      ),
      written('a rare word', [wordOf(4100)]),
      written('a common word', [wordOf(12)]),
      written('the commonest word', [wordOf(0)]),
      written('the commonest word, page 1,000', [wordOf(0)], '&page=1000&limit=100'),
      written('a beginning of many', ['w1a']),
      written('two words', [wordOf(100), wordOf(200)]),
      written('two common words', [wordOf(5), wordOf(12)]),
      written('the two commonest words', [wordOf(0), wordOf(1)]),
      written('the commonest and a rare word', [wordOf(0), wordOf(4100)]),
      written('the commonest word, open and of a tag', [wordOf(0)], `&status=open&tag=${tag}`),
      messages('messages', 'limit=20', listAtMostMs),
      messages('messages, a word', `search=${wordOf(0)}`, searchAtMostMs),
      {
        name: 'status',
        path: '/v1/inbox/status',
        key,
        atMostMs: listAtMostMs,
        bare: {
          text: `select count(*) filter (where unread_count > 0), count(*) filter (where assignee_id is null), count(*)
            from conversations where store_id = $1 and status = 'open'`,
          values: [storeId],
        },
      },
      {
        name: 'tags',
        path: '/v1/inbox/tags',
        key,
        atMostMs: listAtMostMs,
        bare: {
          text: 'select tag_id, count(*) from inbox_conversation_tags where store_id = $1 group by tag_id',
          values: [storeId],
        },
      },
    ]
  },
})

const filled = (text: string, { tag, from }: { tag: string; from: string }): string =>
  text.replace('{tag}', tag).replace('{from}', from)

const dayOf = (at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at)

async function countOf(database: Database, storeId: string, where: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `select count(*)::int as n from conversations where store_id = $1 and ${where}`,
    [storeId],
  )
  return row!.n
}
