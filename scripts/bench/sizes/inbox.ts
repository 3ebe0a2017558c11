/**
 * The inbox with 100,000 conversations and 2,000,000 messages: every list, filter and search, including the deepest
 * pages.
 */
import { createHash } from 'node:crypto'
import { type Area, type Check, daysBefore } from '../area.ts'

const conversations = '/v1/inbox/conversations'
const tagId = '01900000-0000-7000-8000-000000000004'
const newestId = '01900000-0000-7000-8000-000000000005'

/** The n-th most common word of the messages. */
const word = (n: number): string => {
  const digits = createHash('md5').update(String(n)).digest('hex')
  return `w${digits.slice(0, 2 + (n % 7))}`
}

/** Filters whose deepest page is read, each with the share of matching conversations. */
const deepest: [name: string, query: string, share: number][] = [
  ['all', '', 1],
  ['open', 'status=open', 2 / 3],
  ['closed', 'status=closed', 1 / 3],
  ['nobody has', 'assignee=none', 3 / 4],
  ['read', 'unread=false', 1 / 4],
  ['unread', 'unread=true', 3 / 4],
  ['waiting', 'waiting=true', 1 / 7],
  ['not waiting', 'waiting=false', 6 / 7],
  ['window closed', 'windowOpen=false', 0.95],
  ['tier gold', 'tier=gold', 1 / 5],
  ['tier none', 'tier=none', 4 / 5],
  ['not pinned', 'pinned=false', 1],
  ['of a tag', `tag=${tagId}`, 1 / 10],
  ['of ten days', `startDate=${daysBefore(9)}`, 0.4],
]
const list = (name: string, query: string): Check => [name, `${conversations}?${query}`, 150]
const search = (name: string, text: string, more = ''): Check => [
  `search: ${name}`,
  `${conversations}?search=${encodeURIComponent(text)}${more}`,
  300,
]

export default {
  rows: 100_000,
  fill: [
    `insert into contacts (store_id, id, phone, phone_key, profile_name, search_text, tier, created_at, updated_at)
    select {store}, gen_random_uuid(), phone, phone, name, lower(name), case when n % 5 = 0 then 'gold' end, now(), now()
    from (select n, '+5511' || (900000000 + n) as phone, 'Person ' || substr(md5(n::text), 1, 8) as name
      from generate_series(1, {rows}) n) p`,
    `insert into conversations (store_id, id, contact_id, status, unread_count, pinned_at, assignee_id, assignee_name,
      tier, last_message_at, last_message_direction, last_message_type, last_message_status, last_message_preview,
      last_inbound_at, waiting_since, message_count, created_at, updated_at)
    select {store}, case when n = 1 then '${newestId}'::uuid else gen_random_uuid() end, id,
      case when n % 3 = 0 then 'closed' else 'open' end, n % 4,
      case when n % 5000 = 0 then now() end, case when n % 4 = 0 then m.user_id end,
      case when n % 4 = 0 then 'Owner' end, tier, at, 'inbound', 'text', 'received', 'Hello there', at,
      case when n % 7 = 0 then at end, 20, now(), at
    from (select id, tier, row_number() over (order by random()) as n from contacts where store_id = {store}) k
    cross join lateral (select now() - n * interval '20 seconds' as at) a
    cross join (select user_id from memberships where store_id = {store} limit 1) m`,
    `insert into inbox_tags (store_id, id, name, color, created_at, updated_at)
    select {store}, case when n = 1 then '${tagId}'::uuid else gen_random_uuid() end, 'Tag ' || lpad(n::text, 2, '0'),
      '#6b7280', now(), now() from generate_series(1, 20) n`,
    `insert into inbox_conversation_tags (store_id, conversation_id, tag_id, created_at)
    select {store}, c.id, t.id, now()
    from (select id, row_number() over (order by id) as n from conversations where store_id = {store}) c
    join (select id, row_number() over (order by name) as n from inbox_tags where store_id = {store}) t
      on c.n % 10 = t.n - 1 or c.n % 200 = t.n`,
    // In order of time, as they arrive: the messages of one conversation are far apart.
    `insert into inbox_messages (store_id, id, conversation_id, direction, source, type, text, status,
      provider_message_id, occurred_at, created_at, updated_at)
    select {store}, gen_random_uuid(), c.id, case when i % 2 = 0 then 'inbound' else 'outbound' end,
      case when i % 2 = 0 then 'customer' else 'agent' end, 'text', w.text,
      case when i % 2 = 0 then 'received' else 'read' end, c.id::text || i, m.at, m.at, m.at
    from generate_series(19, 0, -1) i cross join conversations c
    cross join lateral (select c.last_message_at - i * interval '7 hours' as at) m
    cross join lateral (select string_agg('w' || substr(md5(pick::text), 1, 2 + pick % 7), ' ') as text
      from (select floor(5000 * power(random(), 3))::int as pick
        from generate_series(1, 8 + 0 * i + 0 * length(c.id::text))) p) w
    where c.store_id = {store}`,
    // Building the index at the end takes a tenth of the time of updating it per row.
    'drop index inbox_message_words_words',
    `insert into inbox_message_words (store_id, conversation_id, message_id, words)
    select store_id, conversation_id, id, array_to_tsvector(string_to_array(text, ' '))
    from inbox_messages where store_id = {store}`,
    'create index inbox_message_words_words on inbox_message_words using gin (store_id, words)',
    `insert into inbox_conversation_words (store_id, word, conversation_id)
    select distinct m.store_id, w.word collate "C", m.conversation_id
    from inbox_message_words m cross join lateral unnest(tsvector_to_array(m.words)) as w(word)
    where m.store_id = {store} order by 2, 3`,
  ],
  checks: (_ids, rows) => [
    list('first page', 'limit=20'),
    list('open, nobody has, waiting', 'status=open&assignee=none&waiting=true'),
    list('window open', 'windowOpen=true'),
    list('one day', `startDate=${daysBefore(0)}&endDate=${daysBefore(0)}`),
    list('changed in the last minute', `updatedSince=${new Date(Date.now() - 60_000).toISOString()}`),
    ...deepest.map(([name, query, share]) => {
      const page = Math.max(1, Math.floor((rows * share) / 100))
      return list(`${name}, page ${page} of 100`, `${query}&page=${page}&limit=100`)
    }),
    search('a name', 'person ab1'),
    search('of every name', 'person'),
    search('of every name, page 5,000', 'person', '&page=5000'),
    search('digits', '900010'),
    search('digits of everybody', '5511'),
    search('a rare word', word(4100)),
    search('a common word', word(12)),
    search('the commonest word', word(0)),
    search('the commonest word, page 1,000', word(0), '&page=1000&limit=100'),
    search('a beginning of many', 'w1a'),
    search('two words', `${word(100)} ${word(200)}`),
    search('two common words', `${word(5)} ${word(12)}`),
    search('the two commonest words', `${word(0)} ${word(1)}`),
    search('the commonest and a rare word', `${word(0)} ${word(4100)}`),
    search('the commonest word, open and of a tag', word(0), `&status=open&tag=${tagId}`),
    ['messages', `${conversations}/${newestId}/messages?limit=20`, 150],
    ['messages, a word', `${conversations}/${newestId}/messages?search=${word(0)}`, 300],
    ['status', '/v1/inbox/status', 150],
    ['tags', '/v1/inbox/tags', 150],
  ],
} satisfies Area
