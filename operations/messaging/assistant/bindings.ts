/** Phones paired with the assistant, and their usage. */
import { sql } from 'kysely'
import { cycles } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { addDays, listDays, localDay } from '#runtime/values/days'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import type { agentUsage, bindings } from './schema.ts'

/** Lists the paired phones, newest first, with their number of requests in the current message cycle. */
export async function listBindings(ctx: Context): Promise<z.input<typeof bindings>> {
  const { startsAt } = await cycles.readCurrentCycle(ctx)
  const rows = await ctx.db
    .selectFrom('chat_agent_bindings as b')
    .innerJoin('store_people as p', 'p.user_id', 'b.user_id')
    .select((eb) => [
      'b.phone',
      'b.name',
      'b.user_id',
      'p.name as member',
      'b.paired_at',
      'b.last_used_at',
      eb
        .selectFrom('chat_agent_requests as r')
        .select((e) => e.fn.countAll<number>().as('n'))
        .whereRef('r.phone_key', '=', 'b.phone_key')
        .where('r.requested_at', '>=', startsAt)
        .as('requests'),
    ])
    .orderBy('b.paired_at', 'desc')
    .orderBy('b.phone_key')
    .execute()
  return {
    data: rows.map((row) => ({
      phone: row.phone,
      name: row.name,
      member: { userId: row.user_id, name: row.member },
      pairedAt: row.paired_at.toISOString(),
      lastUsedAt: row.last_used_at?.toISOString() ?? null,
      requests: row.requests ?? 0,
    })),
  }
}

/** Unpairs a phone. Refuses a phone that is not paired with this store. */
export async function deleteBinding(ctx: Context, text: string): Promise<void> {
  const phone = parsePhone(text, ctx.store.country)
  const gone = phone
    ? await ctx.db
        .deleteFrom('chat_agent_bindings')
        .where('phone_key', '=', phoneKey(phone))
        .returning('phone_key')
        .execute()
    : []
  if (gone.length === 0) throw refuse('not_found', 'This phone is not paired with this store')
}

/** Reads the assistant's usage in the current message cycle. */
export async function readAgentUsage(ctx: Context): Promise<z.input<typeof agentUsage>> {
  const cycle = await cycles.readCurrentCycle(ctx)
  const rows = await ctx.db
    .selectFrom('chat_agent_requests')
    .select([
      sql<string>`to_char(requested_at at time zone ${ctx.store.timezone}::text, 'YYYY-MM-DD')`.as('date'),
      sql<number>`count(*)::int`.as('requests'),
    ])
    .where('requested_at', '>=', cycle.startsAt)
    .groupBy(sql`1`)
    .execute()
  const { paired } = await ctx.db
    .selectFrom('chat_agent_bindings')
    .select((eb) => eb.fn.countAll<number>().as('paired'))
    .executeTakeFirstOrThrow()
  const byDate = new Map(rows.map((row) => [row.date, row.requests]))
  const used = rows.reduce((sum, row) => sum + row.requests, 0)
  const limit = ctx.settings.chatAgentRequests
  return {
    periodStart: cycle.startsAt.toISOString(),
    periodEnd: cycle.endsAt.toISOString(),
    limit,
    used,
    remaining: Math.max(0, limit - used),
    bindings: paired,
    byDay: listCycleDays(ctx, cycle).map((date) => ({ date, requests: byDate.get(date) ?? 0 })),
  }
}

/** Maximum number of days to list. Only the cycle of a trial that ended long ago is longer: its first days are listed. */
const maxDays = 366

/** Every local day from the cycle's start to today. */
function listCycleDays(ctx: Context, { startsAt }: cycles.Cycle): string[] {
  const startDate = localDay(startsAt, ctx.store.timezone)
  const today = localDay(ctx.now(), ctx.store.timezone)
  const last = addDays(startDate, maxDays - 1)
  return listDays({ startDate, endDate: today < last ? today : last })
}
