import { type Kysely, sql } from 'kysely'

/**
 * Phones of people with an id of the provider; the PINs of numbers, which outlive a connection; and setups that wait
 * for the merchant's answer, with the provider's grant so far.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table number_users (
    store_id uuid not null references stores on delete cascade, number_id text not null, user_id text not null,
    phone text not null, seen_at timestamptz not null, primary key (store_id, number_id, user_id))`.execute(
    db,
  )
  await sql`create index number_users_id on number_users (number_id, user_id)`.execute(db)
  await sql`create table number_pins (
    store_id uuid not null references stores on delete cascade, number_id text not null, pin text not null,
    updated_at timestamptz not null, primary key (store_id, number_id))`.execute(db)
  await sql`alter table messaging_setups add column granted text`.execute(db)
}
