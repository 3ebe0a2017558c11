/** What became of the runs of one flow, step by step (rule 7), in one statement. */
import { type RawBuilder, sql } from 'kysely'
import { isCountedConversion } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { preparedRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { noSuchAutomation } from '../automations.ts'
import type { Flow, Step } from '../types.ts'
import { isOnDays, type ReportDays, reportDays, spanOf } from './days.ts'

const none = {
  entered: 0,
  waiting: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  skipped: 0,
  converted: 0,
  purchased: 0,
  notPurchased: 0,
  couponsIssued: 0,
  couponsUsed: 0,
}
type Counters = typeof none
/** Some counters of a step; '' is the first message. */
type Found = Partial<Counters> & { stepId: string }

interface Query extends ReportDays {
  id: string
  currency: string
  /** Null: the current one. */
  version: number | null
}

interface Facts {
  version: number | null
  flow: Flow | null
  /** There is such a version, or none was asked for. */
  isKnown: boolean
  runs: number
  arrivals: Found[]
  messages: Found[]
  sales: Found[]
  coupons: Found[]
}

const stepOf = sql<string>`coalesce(e.step_id, '')`
const isIn = (...statuses: string[]) => sql`e.status in (${sql.join(statuses.map((each) => sql.lit(each)))})`
const countIf = (holds: RawBuilder<unknown>) => sql<number>`count(*) filter (where ${holds})`

const findFacts = preparedRow<Query, Facts>(noSuchAutomation, (db, values) => {
  const version = sql<number>`(select version from wanted)`
  const mine = db
    .selectFrom('automation_runs as r')
    .select('r.id')
    .where('r.automation_id', '=', values.id)
    .where(isOnDays(sql`r.entered_at`))
  const asList = (name: string) => sql<never>`(select coalesce(json_agg(f), '[]') from ${sql.ref(name)} as f)`
  return (
    db
      .with('span', () => spanOf(db, values))
      .with('wanted', () =>
        db
          .selectFrom('automations as a')
          .leftJoin('automation_flow_versions as v', (join) =>
            join
              .onRef('v.automation_id', '=', 'a.id')
              .on('v.version', '=', sql<number>`coalesce(${values.version}::int, a.flow_version)`),
          )
          .select([
            'v.version',
            'v.flow',
            sql<boolean>`${values.version}::int is null or v.version is not null`.as('isKnown'),
          ])
          .where('a.id', '=', values.id)
          .where('a.deleted_at', 'is', null),
      )
      // Two ways: by an index, null and a value are found each by its own.
      .with('entered', () =>
        mine
          .where('r.flow_version', '=', version)
          .unionAll(mine.where('r.flow_version', 'is', null).where(version, 'is', null)),
      )
      .with('arrivals', (all) =>
        all
          .selectFrom('automation_step_log as l')
          .innerJoin('entered as k', 'k.id', 'l.run_id')
          .select([
            'l.step_id as stepId',
            sql<number>`count(*)`.as('entered'),
            countIf(sql`l.outcome = 'purchased'`).as('purchased'),
            countIf(sql`l.outcome = 'not-purchased'`).as('notPurchased'),
          ])
          .groupBy('l.step_id'),
      )
      .with('messages', (all) =>
        all
          .selectFrom('automation_executions as e')
          .innerJoin('entered as k', 'k.id', 'e.run_id')
          .select([
            stepOf.as('stepId'),
            countIf(isIn('pending', 'sending')).as('waiting'),
            sql<number>`count(e.sent_at)`.as('sent'),
            countIf(isIn('delivered', 'read')).as('delivered'),
            countIf(isIn('read')).as('read'),
            countIf(isIn('failed')).as('failed'),
            countIf(isIn('skipped')).as('skipped'),
          ])
          .where('e.automation_id', '=', values.id)
          .groupBy(stepOf),
      )
      .with('sales', (all) =>
        all
          .selectFrom('automation_executions as e')
          .innerJoin('entered as k', 'k.id', 'e.run_id')
          .innerJoin('conversions as v', (join) => join.on('v.message_id', '=', sql<string>`e.id::text`))
          .select([stepOf.as('stepId'), sql<number>`count(*)`.as('converted')])
          .where('e.automation_id', '=', values.id)
          .where('e.converted_at', 'is not', null)
          .where('v.source_type', '=', 'automation')
          .where('v.currency', '=', values.currency)
          .where(isCountedConversion('v'))
          .groupBy(stepOf),
      )
      .with('used', () =>
        db
          .selectFrom('orders as o')
          .select(sql<string>`upper(unnest(o.coupon_codes))`.as('code'))
          .distinct()
          .where(sql<boolean>`o.coupon_codes <> '{}'`)
          .where('o.status', '<>', 'cancelled')
          .where(sql<boolean>`o.placed_at >= (select starts[1] from span)`),
      )
      .with('coupons', (all) =>
        all
          .selectFrom('automation_coupons as c')
          .innerJoin('entered as k', 'k.id', 'c.run_id')
          .leftJoin('used as u', (join) => join.on('u.code', '=', sql<string>`upper(c.code)`))
          .select([
            'c.step_id as stepId',
            sql<number>`count(*)`.as('couponsIssued'),
            sql<number>`count(u.code)`.as('couponsUsed'),
          ])
          .where('c.is_made', '=', sql<boolean>`true`)
          .groupBy('c.step_id'),
      )
      .selectFrom('wanted as w')
      .select([
        'w.version',
        sql<Flow | null>`w.flow`.as('flow'),
        'w.isKnown',
        sql<number>`(select count(*)::int from entered)`.as('runs'),
        ...(['arrivals', 'messages', 'sales', 'coupons'] as const).map((name) => asList(name).as(name)),
      ])
  )
})

export interface FlowStats {
  /** Null: the automation has no flow. */
  version: number | null
  startDate: string
  endDate: string
  runs: number
  steps: (Counters & { stepId: string | null; type: Step['type'] })[]
}

/** Of a version, by default the current one. Refuses an unknown automation or version, and days that may not be. */
export async function readFlowStats(
  ctx: Context,
  automationId: string,
  query: { startDate?: string | undefined; endDate?: string | undefined; version?: number | undefined },
): Promise<FlowStats> {
  const span = reportDays(ctx, query)
  const { currency } = ctx.store
  const facts = await findFacts(ctx, { ...span, id: automationId, currency, version: query.version ?? null })
  if (!facts.isKnown) throw refuse('not_found', `version: the automation has no version ${query.version}`)
  const { arrivals, messages, sales, coupons } = facts
  const found = [...arrivals, ...messages, ...sales, ...coupons]
  const of = (stepId: string | null, type: Step['type']) => {
    const step = { stepId, type, ...none }
    for (const each of found) if (each.stepId === (stepId ?? '')) Object.assign(step, each, { stepId })
    return step
  }
  return {
    version: facts.flow || query.version ? facts.version : null,
    startDate: span.startDate,
    endDate: span.endDate,
    runs: facts.runs,
    steps: [of(null, 'message'), ...(facts.flow?.steps ?? []).map(({ id, type }) => of(id, type))],
  }
}
