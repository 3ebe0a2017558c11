import { type Kysely, sql } from 'kysely'

/**
 * `fold_text` folds a text like `runtime/values/fold.ts`, so that searches and the uniqueness of names ignore accents and
 * invisible characters. It needs no extension. Expression indexes replace those on `lower(…)`; a search looks for its
 * words in all columns together, so each table has one expression.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(foldText).execute(db)
  for (const { table, condition } of names) await renameRepeated(db, table, condition)
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const unseen = String.raw`[\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061c\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u2800\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+`
const special = 'łđðøıħŧŋĸς٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹‐‑‒–—―−‘’‛ʼʹ“”‟'
const plain = `lddoihtnkσ01234567890123456789-------'''''"""`
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const spaces = String.raw`[\s\u0085\u1680\u2028\u2029]+`

/** PostgreSQL inlines this one expression. Most texts are ASCII without repeated spaces, and need only `lower`. */
const foldText = `create function fold_text(given text) returns text language sql immutable parallel safe as $fold$
  select case when given !~ '[^ -~]|  |^ | $' then lower(given) else btrim(regexp_replace(
    replace(replace(replace(replace(
      translate(lower(normalize(regexp_replace(normalize(given, nfkd), ${quoted(unseen)}, '', 'g'), nfc)),
        ${quoted(special)}, ${quoted(plain)}),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
    ${quoted(spaces)}, ' ', 'g')) end
$fold$`

/** Tables with unique names, and the rows among which a name is unique. */
const names = [
  { table: 'inbox_tags', condition: 'true' },
  { table: 'contact_lists', condition: 'true' },
  { table: 'discounts', condition: 'true' },
  { table: 'automations', condition: 'deleted_at is null' },
]

/** Until now two names could differ only by accents: the newer one gets the end of its id. */
async function renameRepeated(db: Kysely<unknown>, table: string, condition: string): Promise<void> {
  const kind = table === 'discounts' ? ', kind' : ''
  await sql
    .raw(
      `update ${table} t set name = t.name || ' (' || right(t.id::text, 6) || ')'
        from (
          select store_id, id, row_number() over (partition by store_id${kind}, fold_text(name) order by id) as n
          from ${table} where ${condition}
        ) r
        where r.store_id = t.store_id and r.id = t.id and r.n > 1`,
    )
    .execute(db)
}

const statements = [
  `drop index inbox_tags_name`,
  `create unique index inbox_tags_name on inbox_tags (store_id, fold_text(name))`,
  `drop index contact_lists_name`,
  `create unique index contact_lists_name on contact_lists (store_id, fold_text(name))`,
  `drop index discounts_name`,
  `create unique index discounts_name on discounts (store_id, kind, fold_text(name))`,
  `drop index automations_name`,
  `create unique index automations_name on automations (store_id, fold_text(name)) where deleted_at is null`,

  `drop index campaigns_search`,
  `create index campaigns_search on campaigns using gin (store_id, fold_text(name) gin_trgm_ops)`,
  `drop index campaign_messages_search`,
  `create index campaign_messages_search on campaign_messages
    using gin (campaign_id, fold_text(name) gin_trgm_ops, phone gin_trgm_ops)`,
  `drop index list_contacts_search`,
  `create index list_contacts_search on list_contacts using gin (list_id,
    fold_text(coalesce(name, '') || ' ' || coalesce(email, '')) gin_trgm_ops, phone gin_trgm_ops)`,
  `drop index orders_search`,
  `create index orders_search on orders using gin (store_id, fold_text(coalesce(number, '') || ' ' ||
    coalesce(customer_name, '') || ' ' || coalesce(customer_email, '')) gin_trgm_ops, customer_phone gin_trgm_ops)`,
  `drop index stock_subscriptions_search`,
  `create index stock_subscriptions_search on stock_subscriptions using gin (store_id, fold_text(coalesce(email, '')
    || ' ' || coalesce(name, '') || ' ' || coalesce(product_name, '')) gin_trgm_ops, phone gin_trgm_ops)`,
]
