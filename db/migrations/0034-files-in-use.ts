import { type Kysely, sql } from 'kysely'

/** Backfill of file uses of campaigns, chat buttons and stock alert mails. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const using = (table: string, owner: string, url: string, where = 'true') =>
  `insert into file_uses (store_id, file_id, owner, created_at)
   select distinct f.store_id, f.id, ${owner}, f.updated_at
   from ${table} x join files f on f.store_id = x.store_id and f.url = ${url}
   where ${where}
   on conflict do nothing`

const statements = [
  using('campaigns', `'campaign:' || x.id`, `x.content -> 'media' ->> 'url'`, 'x.deleted_at is null'),
  using('stock_alert_settings', `'stock:settings'`, `x.content -> 'templateEmail' ->> 'logo'`),
  using(
    `(messaging_buttons b cross join lateral jsonb_array_elements(b.content -> 'attendants') as a(value))`,
    `'messaging-button'`,
    `x.value ->> 'avatarUrl'`,
  ),
]
