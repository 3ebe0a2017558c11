import { type Kysely, sql } from 'kysely'

/**
 * Stores the units of an order line in a request, and the platform's refunds when it was created. So the shares of the
 * units sum to the line, and a unit that is both returned and refunded counts once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** Backfill: units of a line's earlier requests one after the other; requests without units begin at the first. */
const place = `select i.store_id, i.id, i.quantity,
    coalesce((select sum(u.units) from exchange_used_units u
      where u.store_id = i.store_id and u.order_id = r.order_id and u.order_item_id = i.order_item_id), 0)
    + coalesce(sum(case when r.status in ('rejected', 'cancelled', 'expired') then 0
        else coalesce(i.approved_quantity, i.quantity) end) over (
      partition by i.store_id, r.order_id, i.order_item_id order by r.created_at, r.id, i.position
      rows between unbounded preceding and 1 preceding), 0) as start
  from exchange_items i join exchange_requests r on r.store_id = i.store_id and r.id = i.request_id`

const statements = [
  // Positions of the requested units in the line, from 0; null: the first ones.
  `alter table exchange_items add column line_units integer[]`,
  // Units of the line that the platform had refunded when the request was created.
  `alter table exchange_items add column line_refunded integer not null default 0`,
  `alter table exchange_requests add column order_refunded numeric(14,2) not null default 0`,
  `alter table exchange_used_units add column line_units integer[]`,
  `alter table exchange_used_units add column line_refunded integer not null default 0`,
  `alter table exchange_used_units add column order_refunded numeric(14,2) not null default 0`,
  // The value of the request, on the first of its rows.
  `alter table exchange_used_units add column amount numeric(14,2) not null default 0`,
  `update exchange_used_units u
    set line_units = array(select generate_series(p.start, p.start + p.units - 1))::integer[]
    from (select *, coalesce(sum(units) over (partition by store_id, order_id, order_item_id
        order by created_at, request_id rows between unbounded preceding and 1 preceding), 0) as start
      from exchange_used_units) p
    where p.store_id = u.store_id and p.order_id = u.order_id and p.order_item_id = u.order_item_id
      and p.request_id = u.request_id`,
  `update exchange_items i set line_units = array(select generate_series(p.start, p.start + p.quantity - 1))::integer[]
    from (${place}) p where p.store_id = i.store_id and p.id = i.id`,
  `update exchange_requests set refund_amount = null, exchange_order_id = null
    where status = 'rejected' and (refund_amount is not null or exchange_order_id is not null)`,
]
