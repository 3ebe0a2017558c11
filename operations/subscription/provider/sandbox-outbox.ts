/** Reads the sandbox's undelivered webhooks, and reads and sets its outage mode per store. */
import type { BillingEvent } from './port.ts'
import { type SignedHook, signHook } from './sandbox-hooks.ts'
import type { BillingDb } from './sandbox-rows.ts'

/** `down`: every call fails. `timeout`: the call is executed, but its response is lost. */
export type SandboxMode = 'up' | 'down' | 'timeout'

const eventsAtOnce = 100

/**
 * Yields the undelivered webhooks, oldest first. A webhook is marked as delivered when the next one is requested, so after
 * a crash it is delivered again, with the same event keys.
 */
export async function* undelivered(
  db: BillingDb,
  { secret, now, storeId }: { secret: string; now: () => Date; storeId: string | null },
): AsyncGenerator<SignedHook, void, void> {
  for (;;) {
    let query = db
      .selectFrom('sandbox_billing_events')
      .select(['id', 'body'])
      .where('delivered_at', 'is', null)
      .orderBy('id')
      .limit(eventsAtOnce)
    if (storeId !== null) query = query.where('store_id', '=', storeId)
    const rows = await query.execute()
    if (rows.length === 0) return
    yield signHook(
      secret,
      rows.map((row) => row.body as BillingEvent),
    )
    const ids = rows.map((row) => row.id)
    await db
      .updateTable('sandbox_billing_events')
      .set({ delivered_at: now() })
      .where('id', 'in', ids)
      .execute()
  }
}

export async function readMode(db: BillingDb, storeId: string): Promise<SandboxMode> {
  const row = await db
    .selectFrom('sandbox_modes')
    .select('mode')
    .where('store_id', '=', storeId)
    .where('port', '=', 'billing')
    .executeTakeFirst()
  return (row?.mode ?? 'up') as SandboxMode
}

export async function setMode(db: BillingDb, storeId: string, mode: SandboxMode): Promise<void> {
  await db
    .insertInto('sandbox_modes')
    .values({ store_id: storeId, port: 'billing', mode })
    .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet({ mode }))
    .execute()
}
