/** What providers told us of somebody who wants to be forgotten: nothing is told of them again, to nobody. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { type Forgotten, namesThem } from '../forgotten.ts'

/** Within the transaction that applies `asking`, who said it: they stay, and say no more who. */
export async function forgetEvents(tx: Context, person: Forgotten, asking: readonly string[]): Promise<void> {
  await tx.system
    .deleteFrom('provider_events')
    .where('store_id', '=', tx.store.id)
    .where('applied_at', 'is not', null)
    .where(namesThem(person, sql<string>`payload::text`))
    .execute()
  await tx.system
    .updateTable('provider_events')
    .set({ payload: sql<string>`payload || '{"data": null}'` })
    .where(sql<boolean>`id = any(${[...asking]}::uuid[])`)
    .execute()
}

/** Of a shop that left: what its platform told. */
export async function forgetPlatformEvents(tx: Context): Promise<void> {
  await tx.system
    .updateTable('provider_events')
    .set({ payload: sql<string>`payload || '{"data": null}'` })
    .where('store_id', '=', tx.store.id)
    .where('port', '=', 'ecommerce')
    .where('applied_at', 'is not', null)
    .execute()
}
