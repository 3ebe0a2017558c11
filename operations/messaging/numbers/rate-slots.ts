/** Limits the rate of a number across all workers: each of them advances the number's row in the database. */

import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { hourMs } from '#runtime/durations'

/** Slots further ahead than this are ignored: only a wrong clock can have set them. */
const maxAheadMs = 48 * hourMs
export const isTooFarAhead = (at: Date, now: Date): boolean => at.getTime() - now.getTime() > maxAheadMs
const ignoreTooFarAhead = (ctx: Context, at: RawBuilder<unknown>) =>
  sql`(case when ${at} <= ${new Date(ctx.clock.ms() + maxAheadMs)}::timestamptz then ${at} end)`

/**
 * Takes `units` rate slots of one rate class, which may send `perSecond` messages per second from this number. Campaigns
 * and single messages have separate classes, so that neither delays the other. Returns when the messages may be sent.
 */
export async function takeRateSlots(
  ctx: Context,
  numberId: string,
  rateClass: string,
  units: number,
  perSecond: number,
): Promise<Date> {
  const seconds = units / perSecond
  const { rows } = await sql<{ at: Date }>`
    with earliest as (
      select ${greatestKnown(
        sql`${ctx.now()}::timestamptz`,
        sql`(select ${ignoreTooFarAhead(ctx, sql`throttled_until`)} from sender_numbers where id = ${numberId}::text)`,
      )} as at)
    insert into sender_numbers as slot (id, next_at)
    select ${`${numberId}/${rateClass}`}::text, earliest.at + ${seconds}::float8 * interval '1 second' from earliest
    on conflict (id) do update
      set next_at = ${greatestKnown(
        sql`${ignoreTooFarAhead(ctx, sql`slot.next_at`)} + ${seconds}::float8 * interval '1 second'`,
        sql`excluded.next_at`,
      )}
    returning slot.next_at - ${seconds}::float8 * interval '1 second' as at`.execute(ctx.system)
  return rows[0]!.at
}

/** Blocks all rate classes of the number until `until`. */
export async function throttleNumber(ctx: Context, numberId: string, until: Date): Promise<void> {
  await ctx.system
    .insertInto('sender_numbers')
    .values({ id: numberId, next_at: ctx.now(), throttled_until: until })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        throttled_until: greatestKnown<Date>(
          ignoreTooFarAhead(ctx, sql.ref('sender_numbers.throttled_until')),
          sql.ref('excluded.throttled_until'),
        ),
      }),
    )
    .execute()
}
