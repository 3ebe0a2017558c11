import { type Kysely, sql } from 'kysely'

/**
 * A claim on an Idempotency-Key gets an owner: an owner that lost it stores no answer. A form that a browser submits
 * twice has the same id, from the rendered form.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table idempotency_keys add column owner uuid`,
  `alter table exchange_requests add column filling text`,
  `create unique index exchange_requests_filling on exchange_requests (store_id, filling)
    where filling is not null and status not in ('rejected', 'cancelled', 'expired')`,
  `alter table contact_form_submissions add column filling text`,
  `create unique index contact_form_submissions_filling on contact_form_submissions (store_id, filling)
    where filling is not null`,
]
