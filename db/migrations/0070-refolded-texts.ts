import { type Kysely, sql } from 'kysely'

/** Folds stored search texts and the words of messages as searches are folded now. ASCII texts are folded already. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const isFolded = `'^[\\x01-\\x7f]*$'`
/** Scripts without spaces: of their words each character and each two adjacent ones are stored. */
const unspaced = String.raw`'[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]'`
const newWords = (word: string): string => `(
  select fold_text(${word}) as word where fold_text(${word}) <> ${word}
  union select substr(${word}, at, size) from generate_series(1, length(${word})) at, generate_series(1, 2) size
  where ${word} ~ ${unspaced} and at + size - 1 <= length(${word}))`

const statements = [
  `update contacts set search_text = fold_text(concat_ws(' ', coalesce(given_name, profile_name, order_name),
    profile_name)) where search_text !~ ${isFolded}`,
  `update product_reviews set search_text = left(fold_text(concat_ws(' ', customer_name, customer_email, title, text,
    product_name)), 8000) where search_text !~ ${isFolded}`,
  `update review_dispatches set search_text = left(fold_text(concat_ws(' ', customer_name, customer_email,
    customer_phone, order_number, product_name)), 8000) where search_text !~ ${isFolded}`,
  `update exchange_requests set search_text = left(fold_text(search_text), 16000) where search_text !~ ${isFolded}`,
  `insert into inbox_conversation_words (store_id, word, conversation_id)
    select distinct w.store_id, n.word, w.conversation_id
    from inbox_conversation_words w cross join lateral ${newWords('w.word')} n
    where w.word !~ ${isFolded} on conflict do nothing`,
  `update inbox_message_words set words = words || array_to_tsvector(array(
      select n.word from unnest(tsvector_to_array(words)) as w(word) cross join lateral ${newWords('w.word')} n
      where w.word !~ ${isFolded}))
    where array_to_string(tsvector_to_array(words), ' ') !~ ${isFolded}`,
]
