import { type Kysely, sql } from 'kysely'

/** Indexes for lookups of attribution, the home page and the sandbox's customers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create index attribution_touches_coupon on attribution_touches (store_id, upper(coupon_code))
    where coupon_code is not null`,
  `create index attribution_touches_click on attribution_touches (store_id, click_token)
    where click_token is not null`,
  `create index attribution_touches_time on attribution_touches (store_id, touched_at)`,
  `create index conversions_message on conversions (store_id, message_id) where message_id is not null`,
  `create index conversions_touch on conversions (store_id, touch_id)`,
  `create index newsletter_subscribers_created on newsletter_subscribers (store_id, created_at)`,
  `create index sandbox_objects_customer on sandbox_objects (store_id, (data -> 'customer' ->> 'id'))
    where kind = 'order'`,
]
