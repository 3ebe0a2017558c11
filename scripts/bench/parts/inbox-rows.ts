/** Fills a store's inbox in SQL; words are as unevenly used as in a language. */
import { createHash } from 'node:crypto'
import type { Database } from '#db/database'

const vocabulary = 5_000
const namedId = 'md5(random()::text || clock_timestamp()::text)::uuid'

/** The n-th commonest word, from 0. */
export const wordOf = (n: number): string =>
  `w${createHash('md5')
    .update(String(n))
    .digest('hex')
    .slice(0, 2 + (n % 7))}`

/** The tag that a tenth of the conversations have. */
export async function tagOf(database: Database, storeId: string): Promise<string> {
  const [tag] = await database.query<{ id: string }>(
    'select id from inbox_tags where store_id = $1 order by name limit 1',
    [storeId],
  )
  return tag!.id
}

interface Sizes {
  conversations: number
  messagesEach: number
}

export async function fillInbox(
  database: Database,
  storeId: string,
  { conversations, messagesEach }: Sizes,
): Promise<void> {
  const run = (text: string, values: readonly unknown[] = []): Promise<unknown> =>
    database.query(text, [storeId, ...values])
  await run(
    `insert into contacts (store_id, id, phone, phone_key, profile_name, search_text, tier, created_at, updated_at)
     select $1::uuid, ${namedId}, phone, phone, name, lower(name), case when n % 5 = 0 then 'gold' end, now(), now()
     from (select n, '+5511' || (900000000 + n) as phone, 'Person ' || substr(md5(n::text), 1, 8) as name
       from generate_series(1, $2::int) n) p`,
    [conversations],
  )
  await run(
    `insert into conversations (store_id, id, contact_id, status, unread_count, pinned_at, assignee_id, assignee_name,
       tier, last_message_at, last_message_direction, last_message_type, last_message_status, last_message_preview,
       last_inbound_at, waiting_since, message_count, created_at, updated_at)
     select $1::uuid, ${namedId}, id, case when n % 3 = 0 then 'closed' else 'open' end, n % 4,
       case when n % 5000 = 0 then now() end, case when n % 4 = 0 then m.user_id end,
       case when n % 4 = 0 then 'Owner' end, tier, at, 'inbound', 'text', 'received', 'Hello there', at,
       case when n % 7 = 0 then at end, $2::int, now(), at
     from (select id, tier, row_number() over (order by random()) as n from contacts where store_id = $1) k
     cross join lateral (select now() - n * interval '20 seconds' as at) a
     cross join (select user_id from memberships where store_id = $1 limit 1) m`,
    [messagesEach],
  )
  await run(
    `insert into inbox_tags (store_id, id, name, color, created_at, updated_at)
     select $1::uuid, ${namedId}, 'Tag ' || lpad(n::text, 2, '0'), '#6b7280', now(), now() from generate_series(1, 20) n`,
  )
  await run(
    `insert into inbox_conversation_tags (store_id, conversation_id, tag_id, created_at)
     select $1::uuid, c.id, t.id, now()
     from (select id, row_number() over (order by id) as n from conversations where store_id = $1) c
     join (select id, row_number() over (order by name) as n from inbox_tags where store_id = $1) t
       on c.n % 10 = t.n - 1 or c.n % 200 = t.n`,
  )
  await fillMessages(database, storeId, messagesEach)
}

/** Without the indexes that grow row by row: they are made at the end, which takes a tenth of the time. */
async function fillMessages(database: Database, storeId: string, messagesEach: number): Promise<void> {
  const words = await database.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where indexname = 'inbox_message_words_words'`,
    [],
  )
  await database.query('drop index inbox_message_words_words', [])
  // In the order of time, as they come in: the messages of one conversation lie far apart.
  await database.query(
    `insert into inbox_messages (store_id, id, conversation_id, direction, source, type, text, status,
       provider_message_id, occurred_at, created_at, updated_at)
     select $1::uuid, ${namedId}, c.id, case when i % 2 = 0 then 'inbound' else 'outbound' end,
       case when i % 2 = 0 then 'customer' else 'agent' end, 'text', w.text,
       case when i % 2 = 0 then 'received' else 'read' end, c.id::text || i, m.at, m.at, m.at
     from generate_series($2::int - 1, 0, -1) i cross join conversations c
     cross join lateral (select c.last_message_at - i * interval '7 hours' as at) m
     cross join lateral (
       select string_agg(word, ' ') as text
       from (select 'w' || substr(md5(pick::text), 1, 2 + pick % 7) as word
         from (select floor(${vocabulary} * power(random(), 3))::int as pick
           from generate_series(1, 8 + 0 * i + 0 * length(c.id::text))) p) q) w
     where c.store_id = $1`,
    [storeId, messagesEach],
  )
  await database.query(
    `insert into inbox_message_words (store_id, conversation_id, message_id, words)
     select store_id, conversation_id, id, array_to_tsvector(string_to_array(text, ' '))
     from inbox_messages where store_id = $1`,
    [storeId],
  )
  await database.query(words[0]!.indexdef, [])
  await database.query(
    `insert into inbox_conversation_words (store_id, word, conversation_id)
     select distinct m.store_id, w.word collate "C", m.conversation_id
     from inbox_message_words m cross join lateral unnest(tsvector_to_array(m.words)) as w(word)
     where m.store_id = $1 order by 2, 3`,
    [storeId],
  )
}
