/** The pace of a number: a row that every worker moves forward, so that it holds over all of them. */

import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { hourMs } from '#runtime/durations'

/** No place of a number is that far ahead: one that is was given by a clock that was, and is put back since. */
const aheadAtMostMs = 48 * hourMs
export const isAhead = (at: Date, now: Date): boolean => at.getTime() - now.getTime() > aheadAtMostMs
const unlessAhead = (ctx: Context, at: RawBuilder<unknown>) =>
  sql`(case when ${at} <= ${new Date(ctx.clock.ms() + aheadAtMostMs)}::timestamptz then ${at} end)`

/**
 * Takes `units` places in the lane of those who share `perSecond` of the number: campaigns have one, single messages
 * another, so that neither waits for the other. Answers when they may leave.
 */
export async function takePlaces(
  ctx: Context,
  numberId: string,
  lane: string,
  units: number,
  perSecond: number,
): Promise<Date> {
  const seconds = units / perSecond
  const { rows } = await sql<{ at: Date }>`
    with earliest as (
      select ${greatestKnown(
        sql`${ctx.now()}::timestamptz`,
        sql`(select ${unlessAhead(ctx, sql`throttled_until`)} from sender_numbers where id = ${numberId}::text)`,
      )} as at)
    insert into sender_numbers as lane (id, next_at)
    select ${`${numberId}/${lane}`}::text, earliest.at + ${seconds}::float8 * interval '1 second' from earliest
    on conflict (id) do update
      set next_at = ${greatestKnown(
        sql`${unlessAhead(ctx, sql`lane.next_at`)} + ${seconds}::float8 * interval '1 second'`,
        sql`excluded.next_at`,
      )}
    returning lane.next_at - ${seconds}::float8 * interval '1 second' as at`.execute(ctx.system)
  return rows[0]!.at
}

/** No lane of the number moves before `until`. */
export async function holdNumber(ctx: Context, numberId: string, until: Date): Promise<void> {
  await ctx.system
    .insertInto('sender_numbers')
    .values({ id: numberId, next_at: ctx.now(), throttled_until: until })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        throttled_until: greatestKnown<Date>(
          unlessAhead(ctx, sql.ref('sender_numbers.throttled_until')),
          sql.ref('excluded.throttled_until'),
        ),
      }),
    )
    .execute()
}
