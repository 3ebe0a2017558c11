/** Messages of the current cycle, by source and local day. */
import { sql } from 'kysely'
import { cycles, type MessageSource, messageSources } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import type { z } from '#runtime/schema'
import type { usage } from '../schema.ts'

interface Counted {
  source: MessageSource
  date: string
  used: number
}

const countMessages = prepared<{ startsAt: Date; countsFrom: Date; timezone: string }, Counted>(
  (db, values) =>
    db
      .selectFrom('message_ledger as l')
      .select([
        sql<MessageSource>`l.source`.as('source'),
        sql<string>`((l.sent_at at time zone ${values.timezone}::text)::date)::text`.as('date'),
        sql<number>`count(*)::int`.as('used'),
      ])
      .where('l.channel', '=', 'messaging')
      .where('l.sent_at', '>=', values.countsFrom)
      // A message reserved before the cycle began counts in the cycle of its reservation.
      .where((eb) =>
        eb.or([
          eb('l.cycle_starts_at', 'is', null),
          eb.and([
            eb('l.cycle_starts_at', '>=', values.countsFrom),
            eb('l.cycle_starts_at', '<=', values.startsAt),
          ]),
        ]),
      )
      .groupBy([sql`1`, sql`2`]),
)

const daysBetween = prepared<{ startsAt: Date; now: Date; timezone: string }, { date: string }>(
  (db, values) =>
    db
      .selectFrom(
        sql<{
          at: Date
        }>`generate_series((${values.startsAt}::timestamptz at time zone ${values.timezone}::text)::date,
        (${values.now}::timestamptz at time zone ${values.timezone}::text)::date, interval '1 day')`.as<'d'>(
          sql`d(at)`,
        ),
      )
      .select(sql<string>`d.at::date::text`.as('date')),
)

export async function readUsage(ctx: Context): Promise<z.infer<typeof usage>> {
  const cycle = await cycles.readCurrentCycle(ctx)
  const { startsAt, endsAt, countsFrom, limit, used, reserved } = cycle
  const now = ctx.now() < endsAt ? ctx.now() : new Date(endsAt.getTime() - 1)
  const { timezone } = ctx.store
  const [counted, days] = await Promise.all([
    countMessages(ctx, { startsAt, countsFrom, timezone }),
    daysBetween(ctx, { startsAt: countsFrom, now, timezone }),
  ])
  const sum = (of: (each: Counted) => boolean): number =>
    counted.filter(of).reduce((total, each) => total + each.used, 0)
  return {
    cycleStart: startsAt.toISOString(),
    cycleEnd: endsAt.toISOString(),
    limit,
    used,
    reserved,
    remaining: Math.max(0, limit - used - reserved),
    percentUsed: limit === 0 ? 0 : Math.round((used * 1000) / limit) / 10,
    bySource: messageSources.map((source) => ({ source, used: sum((each) => each.source === source) })),
    daily: days.map(({ date }) => ({ date, used: sum((each) => each.date === date) })),
  }
}
