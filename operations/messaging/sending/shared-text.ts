/** What leaves through the shared number: inside the service's own template, with the store's name before it (rule 1). */
import { sql } from 'kysely'
import type { events } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import type { InboundData } from '#runtime/ports/messaging/hook-body'
import { phoneKey } from '#runtime/values/phone'

const windowMs = 24 * 3_600_000

/** The text as the recipient reads it. A template that opens a conversation has no line breaks. */
export function sharedText(storeName: string, text: string, isWindowOpen: boolean): string {
  // An asterisk in the name would end the bold there.
  const name = `*${storeName.replaceAll('*', ' ').replace(/\s+/g, ' ').trim()}*`
  return isWindowOpen ? `${name}\n${text}` : `${name} ${text.replace(/\s*[\r\n]+\s*/g, ' ').trim()}`
}

/** The same for one recipient, by whether they wrote to the shared number in the last 24 hours, to whatever store. */
export async function sharedTextFor(
  ctx: Context,
  numberId: string,
  message: { phone: string; text: string },
): Promise<string> {
  const row = await ctx.system
    .selectFrom('shared_windows')
    .select('last_inbound_at')
    .where('number_id', '=', numberId)
    .where('phone_key', '=', phoneKey(message.phone))
    .executeTakeFirst()
  const isOpen = row !== undefined && ctx.now().getTime() < row.last_inbound_at.getTime() + windowMs
  return sharedText(ctx.store.name, message.text, isOpen)
}

/** Notes who wrote to a shared number, in the transaction that applies it. */
export async function openSharedWindows(ctx: Context, stored: readonly events.StoredEvent[]): Promise<void> {
  const latest = new Map<string, { number_id: string; phone_key: string; last_inbound_at: Date }>()
  for (const { storeRef, data, occurredAt } of stored) {
    if (!storeRef) continue
    const key = phoneKey((data as InboundData).phone)
    const known = latest.get(`${storeRef} ${key}`)
    if (known && known.last_inbound_at >= occurredAt) continue
    latest.set(`${storeRef} ${key}`, { number_id: storeRef, phone_key: key, last_inbound_at: occurredAt })
  }
  if (latest.size === 0) return
  await ctx.system
    .insertInto('shared_windows')
    .values([...latest.values()].sort((a, b) => (a.phone_key < b.phone_key ? -1 : 1)))
    .onConflict((conflict) =>
      conflict.columns(['number_id', 'phone_key']).doUpdateSet({
        last_inbound_at: greatest<Date>(
          sql.ref('shared_windows.last_inbound_at'),
          sql.ref('excluded.last_inbound_at'),
        ),
      }),
    )
    .execute()
}
