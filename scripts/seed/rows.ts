/** Bulk inserts: rows are passed as one JSON value, and PostgreSQL casts each column. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { NewRow, Row, TenantTables } from '#db/tables'
import { idFromName } from '#runtime/values/ids'

/** A row as read from the database: objects for JSON columns, `Date` for instants, decimal text for money. */
export type SeedRow<T extends keyof TenantTables> = {
  [Column in keyof NewRow<T>]: Column extends keyof Row<T> ? Row<T>[Column] : never
} & { store_id?: string }

const rowsAtOnce = 2000

/**
 * Inserts rows of one store; rows with an existing id or unique value are skipped. Missing columns get their default.
 * Returns the number of new rows.
 */
export async function insertRows<T extends keyof TenantTables>(
  db: RootDatabase,
  table: T,
  storeId: string,
  rows: readonly SeedRow<T>[],
): Promise<number> {
  let inserted = 0
  for (const [names, alike] of Map.groupBy(rows, (row) => Object.keys(row).sort().join())) {
    const columns = sql.join(['store_id', ...names.split(',')].map((name) => sql.ref(name)))
    for (let start = 0; start < alike.length; start += rowsAtOnce) {
      const batch = alike.slice(start, start + rowsAtOnce).map((row) => ({ store_id: storeId, ...row }))
      const { numAffectedRows } = await sql`
        insert into ${sql.table(table)} (${columns})
        select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(batch)}::jsonb)
        on conflict do nothing`.execute(db)
      inserted += Number(numAffectedRows ?? 0)
    }
  }
  return inserted
}

type Ledger = SeedRow<'message_ledger'>
type Touch = SeedRow<'attribution_touches'>

/** A message as its section stores it. */
type Sent = { [Column in keyof Omit<Ledger, 'message_id' | 'failure_code'>]?: Ledger[Column] | null } & {
  id: string
  failure_code?: string | null
}

/** Fields missing in the section's row; with a `touch`, orders can be attributed to it. */
type Source = Partial<Ledger> &
  Pick<Ledger, 'source' | 'source_id'> & { touch?: Partial<Touch> & Pick<Touch, 'source_name'> }

/** Ledger rows and touches of the sent messages. */
export async function recordSent<S extends Sent>(
  db: RootDatabase,
  storeId: string,
  messages: readonly S[],
  sourceOf: (row: S) => Source,
): Promise<void> {
  const ledger: Ledger[] = []
  const touches: Touch[] = []
  for (const row of messages) {
    if (!row.sent_at) continue
    const { touch, ...source } = sourceOf(row)
    const sent: Ledger = {
      message_id: row.id,
      channel: row.channel ?? 'messaging',
      phone_key: row.phone_key ?? null,
      email: row.email?.toLowerCase() ?? null,
      provider_message_id: row.provider_message_id ?? null,
      status: row.status ?? 'sent',
      failure_code: (row.failure_code ?? null) as Ledger['failure_code'],
      sent_at: row.sent_at,
      delivered_at: row.delivered_at ?? null,
      read_at: row.read_at ?? null,
      failed_at: row.failed_at ?? null,
      ...source,
    }
    ledger.push(sent)
    if (!touch) continue
    touches.push({
      id: idFromName(`touch ${row.id}`, row.sent_at.getTime()),
      source_type: sent.source,
      source_id: sent.source_id!,
      channel: sent.channel,
      message_id: row.id,
      phone_key: sent.phone_key,
      email: sent.email,
      touched_at: row.sent_at,
      voided_at: row.failed_at ?? null,
      ...touch,
    })
  }
  await insertRows(db, 'message_ledger', storeId, ledger)
  await insertRows(db, 'attribution_touches', storeId, touches)
}
