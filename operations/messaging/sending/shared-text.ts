/**
 * Builds texts sent through the shared number: they begin with the store's name and, if the window is closed, are
 * wrapped in the service's own template (rule 1).
 */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { greatest } from '#runtime/database/sql'
import { dayMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'
import { toParameter } from '#runtime/values/variables'

const windowMs = dayMs

/** Formats the text as the recipient reads it: unchanged within an open window, otherwise as a template parameter. */
function formatSharedText(storeName: string, text: string, isWindowOpen: boolean): string {
  // An asterisk in the name would end the bold text early.
  const name = `*${toParameter(storeName.replaceAll('*', ' '))}*`
  return isWindowOpen ? `${name}\n${text}` : toParameter(`${name} ${text}`)
}

/**
 * Builds the text for one recipient, depending on whether they wrote to the shared number in the last 24 hours, to any
 * store.
 */
export async function buildSharedText(
  ctx: Context,
  numberId: string,
  message: { phone: string; text: string },
): Promise<{ text: string; isWindowOpen: boolean }> {
  const row = await ctx.system
    .selectFrom('shared_windows')
    .select('last_inbound_at')
    .where('number_id', '=', numberId)
    .where('phone_key', '=', phoneKey(message.phone))
    .executeTakeFirst()
  const isWindowOpen = row !== undefined && ctx.now().getTime() < row.last_inbound_at.getTime() + windowMs
  return { text: formatSharedText(ctx.store.name, message.text, isWindowOpen), isWindowOpen }
}

/** Records who wrote to a shared number, in the transaction that applies the message. */
export async function openSharedWindows(
  ctx: Context,
  messages: readonly { numberId: string; phone: string; at: Date }[],
): Promise<void> {
  const latest = new Map<string, { number_id: string; phone_key: string; last_inbound_at: Date }>()
  for (const { numberId, phone, at } of messages) {
    const key = phoneKey(phone)
    const known = latest.get(`${numberId} ${key}`)
    if (known && known.last_inbound_at >= at) continue
    latest.set(`${numberId} ${key}`, { number_id: numberId, phone_key: key, last_inbound_at: at })
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
