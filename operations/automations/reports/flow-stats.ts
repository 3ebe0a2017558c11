/** Reads statistics per step about the runs of one flow version (rule 7), in one statement. */
import { type RawBuilder, sql } from 'kysely'
import { isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { preparedRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { noSuchAutomation } from '../automations.ts'
import type { Flow, Step } from '../types.ts'
import { isOnDays, parseReportDays, type ReportDays, selectSpan } from './days.ts'

const zeroCounters = {
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
type Counters = typeof zeroCounters
/** Some of a step's counters. The first message has the `stepId` ''. */
type StepCounters = Partial<Counters> & { stepId: string }

interface Query extends ReportDays {
  id: string
  currency: string
  /** Null for the current version. */
  version: number | null
}

interface Facts {
  version: number | null
  flow: Flow | null
  /** True if the requested version exists, or if none was requested. */
  isKnown: boolean
  runs: number
  arrivals: StepCounters[]
  messages: StepCounters[]
  sales: StepCounters[]
  coupons: StepCounters[]
}

const stepIdColumn = sql<string>`coalesce(e.step_id, '')`
const isIn = (...statuses: string[]) => sql`e.status in (${sql.join(statuses.map((each) => sql.lit(each)))})`
const countIf = (holds: RawBuilder<unknown>) => sql<number>`count(*) filter (where ${holds})`

const findFacts = preparedRow<Query, Facts>(noSuchAutomation, (db, values) => {
  const version = sql<number>`(select version from selected)`
  const mine = db
    .selectFrom('automation_runs as r')
    .select('r.id')
    .where('r.automation_id', '=', values.id)
    .where(isOnDays(sql`r.entered_at`))
  const asList = (name: string) => sql<never>`(select coalesce(json_agg(f), '[]') from ${sql.ref(name)} as f)`
  return (
    db
      .with('span', () => selectSpan(db, values))
      .with('selected', () =>
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
      // A union, because PostgreSQL uses the index for `=` and for `is null`, but not for `is not distinct from`.
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
            stepIdColumn.as('stepId'),
            countIf(isIn('pending', 'sending')).as('waiting'),
            sql<number>`count(e.sent_at)`.as('sent'),
            countIf(isIn('delivered', 'read')).as('delivered'),
            countIf(isIn('read')).as('read'),
            countIf(isIn('failed')).as('failed'),
            countIf(isIn('skipped')).as('skipped'),
          ])
          .where('e.automation_id', '=', values.id)
          .groupBy(stepIdColumn),
      )
      .with('sales', (all) =>
        all
          .selectFrom('automation_executions as e')
          .innerJoin('entered as k', 'k.id', 'e.run_id')
          .innerJoin('conversions as v', (join) => join.on('v.message_id', '=', sql<string>`e.id::text`))
          .select([stepIdColumn.as('stepId'), sql<number>`count(*)`.as('converted')])
          .where('e.automation_id', '=', values.id)
          .where('e.converted_at', 'is not', null)
          .where('v.source_type', '=', 'automation')
          .where('v.currency', '=', values.currency)
          .where(isCountedConversion('v'))
          .groupBy(stepIdColumn),
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
      .selectFrom('selected as w')
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
  /** Null if the automation has no flow. */
  version: number | null
  startDate: string
  endDate: string
  runs: number
  steps: (Counters & { stepId: string | null; type: Step['type'] })[]
}

/**
 * Reads the statistics of a version, by default the current one. Refuses an unknown automation or version, and invalid
 * days.
 */
export async function readFlowStats(
  ctx: Context,
  automationId: string,
  query: { startDate?: string | undefined; endDate?: string | undefined; version?: number | undefined },
): Promise<FlowStats> {
  const span = parseReportDays(ctx, query)
  const { currency } = ctx.store
  const facts = await findFacts(ctx, { ...span, id: automationId, currency, version: query.version ?? null })
  if (!facts.isKnown) throw refuse('not_found', `version: the automation has no version ${query.version}`)
  const { arrivals, messages, sales, coupons } = facts
  const found = [...arrivals, ...messages, ...sales, ...coupons]
  const toStep = (stepId: string | null, type: Step['type']) => {
    const step = { stepId, type, ...zeroCounters }
    for (const each of found) if (each.stepId === (stepId ?? '')) Object.assign(step, each, { stepId })
    return step
  }
  return {
    version: facts.flow || query.version ? facts.version : null,
    startDate: span.startDate,
    endDate: span.endDate,
    runs: facts.runs,
    steps: [toStep(null, 'message'), ...(facts.flow?.steps ?? []).map(({ id, type }) => toStep(id, type))],
  }
}
