/** The upgrade of texts that were folded otherwise, or not at all. */
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { migrate, migrateTo } from '#db/migrate'
import { openPglite } from '#db/open'
import { extractWords } from '#operations/inbox/words'
import { newId } from '#runtime/values/ids'

test('names that differ only by accents get distinct names, and stored texts are found by new searches', async () => {
  const database = await openPglite({})
  const names = (await readdir(new URL('../../db/migrations/', import.meta.url))).map((file) =>
    file.slice(0, -3),
  )
  await migrateTo(database, names.filter((name) => name < '0069').sort())
  const now = '2026-11-20T12:00:00.000Z'
  let at = Date.parse(now)
  const makeId = () => {
    at += 1
    return newId(at)
  }
  const [store, conversation, contact, message] = [makeId(), makeId(), makeId(), makeId()]
  await database.query(
    `insert into stores (id, slug, public_id, name, domain, country, currency, timezone, joined_at, created_at, updated_at)
      values ($1, 'old', 'old', 'Old', 'old.example', 'BR', 'BRL', 'America/Sao_Paulo', $2, $2, $2)`,
    [store, now],
  )
  for (const name of ['Promoção', 'Promocao', 'PROMOCÃO', 'VIP']) {
    await database.query(
      `insert into contact_lists (store_id, id, name, source, created_at, updated_at) values ($1, $2, $3, 'csv', $4, $4)`,
      [store, makeId(), name, now],
    )
  }
  await database.query(
    `insert into contacts (store_id, id, phone, phone_key, profile_name, search_text, created_at, updated_at)
      values ($1, $2, '+5511987650000', '+5511987650000', 'Łukasz ガ', 'łukasz カ', $3, $3)`,
    [store, contact, now],
  )
  await database.query(
    `insert into conversations (store_id, id, contact_id, last_message_at, created_at, updated_at)
      values ($1, $2, $3, $4, $4, $4)`,
    [store, conversation, contact, now],
  )
  const words = ['红色连衣裙', 'straße', 'plain']
  await database.query(
    'insert into inbox_message_words (store_id, conversation_id, message_id, words) values ($1, $2, $3, array_to_tsvector($4::text[]))',
    [store, conversation, message, words],
  )
  await database.query(
    'insert into inbox_conversation_words (store_id, conversation_id, word) select $1, $2, unnest($3::text[])',
    [store, conversation, words],
  )
  await migrate(database)
  const lists = await database.query<{ name: string }>('select name from contact_lists order by id', [])
  const given = lists.map(({ name }) => name)
  expect([given[0], given[3]]).toEqual(['Promoção', 'VIP'])
  expect(given[1]).toMatch(/^Promocao \([0-9a-f]{6}\)$/)
  expect(given[2]).toMatch(/^PROMOCÃO \([0-9a-f]{6}\)$/)
  const contacts = await database.query('select search_text from contacts', [])
  expect(contacts).toEqual([{ search_text: 'lukasz ガ lukasz ガ' }])
  const expected = extractWords('红色连衣裙 Straße plain')
  const [row] = await database.query<{ words: string[] }>(
    'select tsvector_to_array(words) as words from inbox_message_words',
    [],
  )
  expect(row!.words).toEqual(expect.arrayContaining(expected))
  const ofConversation = await database.query<{ word: string }>(
    'select word from inbox_conversation_words',
    [],
  )
  expect(ofConversation.map(({ word }) => word)).toEqual(expect.arrayContaining(expected))
  await database.close()
})
