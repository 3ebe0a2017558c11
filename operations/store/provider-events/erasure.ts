/** Erases a person from stored provider events. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { type DataSubject, mentionsSubject } from '../erasure.ts'

/**
 * Deletes the events that mention the person. Runs in the transaction that applies `asking`, the events of the erasure
 * request: those are kept, but without their data.
 */
export async function eraseEvents(
  tx: Context,
  person: DataSubject,
  asking: readonly string[],
): Promise<void> {
  await tx.system
    .deleteFrom('provider_events')
    .where('store_id', '=', tx.store.id)
    .where('applied_at', 'is not', null)
    .where(mentionsSubject(person, sql<string>`payload::text`))
    .execute()
  await tx.system
    .updateTable('provider_events')
    .set({ payload: sql<string>`payload || '{"data": null}'` })
    .where(sql<boolean>`id = any(${[...asking]}::uuid[])`)
    .execute()
}

/** Erases the data of all platform events of a shop that removed our app. */
export async function erasePlatformEvents(tx: Context): Promise<void> {
  await tx.system
    .updateTable('provider_events')
    .set({ payload: sql<string>`payload || '{"data": null}'` })
    .where('store_id', '=', tx.store.id)
    .where('port', '=', 'ecommerce')
    .where('applied_at', 'is not', null)
    .execute()
}
