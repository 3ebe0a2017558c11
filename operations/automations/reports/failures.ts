/** Counts the failed and skipped messages of an automation by reason (rule 7). */

import { sql } from 'kysely'
import type { MessageReason } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { preparedRow } from '#runtime/database/rows'
import { noSuchAutomation } from '../automations.ts'
import { describeReason } from '../reasons.ts'
import { isOnDays, parseReportDays, type ReportDays, selectSpan } from './days.ts'
import { toRate } from './report.ts'

type Outcome = 'failed' | 'skipped'
interface Group {
  outcome: Outcome
  code: MessageReason
  n: number
  lastAt: string
}

type Query = ReportDays & { id: string }

const findGroups = preparedRow<Query, { groups: Group[] }>(noSuchAutomation, (db, values) => {
  const groups = db
    .selectFrom('automation_executions as e')
    .select([
      'e.status as outcome',
      sql<string>`coalesce(case e.status when 'failed' then e.failure_code else e.skip_reason end, 'provider-error')`.as(
        'code',
      ),
      sql<number>`count(*)`.as('n'),
      sql<string>`iso(max(coalesce(e.failed_at, e.ended_at, e.sent_at, e.scheduled_at)))`.as('lastAt'),
    ])
    .where('e.automation_id', '=', values.id)
    .where('e.status', 'in', [sql.lit('failed'), sql.lit('skipped')])
    .where(isOnDays())
    .groupBy([sql`1`, sql`2`])
  return db
    .with('span', () => selectSpan(db, values))
    .selectFrom('automations as a')
    .select(
      sql<Group[]>`(${db.selectFrom(groups.as('g')).select(sql`coalesce(json_agg(g), '[]')`.as('rows'))})`.as(
        'groups',
      ),
    )
    .where('a.id', '=', values.id)
    .where('a.deleted_at', 'is', null)
})

export interface Failures {
  startDate: string
  endDate: string
  total: number
  data: {
    outcome: Outcome
    code: MessageReason
    reason: string
    count: number
    share: number
    lastAt: string
  }[]
}

/** Reads the counts, most frequent reason first, then by code. Refuses an unknown automation and invalid days. */
export async function readFailures(
  ctx: Context,
  automationId: string,
  query: { startDate?: string | undefined; endDate?: string | undefined; outcome?: Outcome | undefined },
): Promise<Failures> {
  const span = parseReportDays(ctx, query)
  const found = await findGroups(ctx, { ...span, id: automationId })
  const groups = found.groups.filter(({ outcome }) => !query.outcome || outcome === query.outcome)
  const total = groups.reduce((all, { n }) => all + n, 0)
  return {
    startDate: span.startDate,
    endDate: span.endDate,
    total,
    data: groups
      .sort((a, b) => b.n - a.n || (a.code < b.code ? -1 : 1))
      .map(({ outcome, code, n, lastAt }) => ({
        outcome,
        code,
        reason: describeReason(code),
        count: n,
        share: toRate(n, total, 1)!,
        lastAt,
      })),
  }
}
