/** Reads automations as JSON that the database builds. */

import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { preparedOne } from '#runtime/database/rows'
import { matchesWords } from '#runtime/database/search'
import type { MergedExtensions } from '#runtime/extensions'
import type { JsonText } from '#runtime/operation'
import { noSuchAutomation } from '../automations.ts'
import { personJson } from './versions.ts'
import { warningsJson } from './warnings.ts'

type Db = Kysely<TenantTables>

/** The 30 days up to today, in the store's zone. */
interface Days {
  startDate: string
  endDate: string
  timezone: string
  currency: string
}

const getDays = (ctx: Context): Days => ({
  ...days.parseDayRange(ctx, {}, 365),
  timezone: ctx.store.timezone,
  currency: ctx.store.currency,
})

/** The counters of the last 30 days, counted like those of the report. Needs the alias `a`. */
function statsJson(db: Db, values: Days): RawBuilder<unknown> {
  const first = (day: RawBuilder<unknown>) =>
    sql`(select ${days.firstInstant(day, sql`${values.timezone}::text`)})`
  const start = first(sql`${values.startDate}::date`)
  const end = first(sql`(${values.endDate}::date + 1)`)
  const at = sql`coalesce(e.sent_at, e.scheduled_at)`
  const isWithin = sql<boolean>`(${at} >= ${start} and ${at} < ${end})`
  const ofAutomation = sql.ref<string>('a.id')
  const ended = db
    .selectFrom('automation_executions as e')
    .select([
      sql`count(e.sent_at)`.as('sent'),
      sql`count(*) filter (where e.status in ('delivered', 'read'))`.as('delivered'),
      sql`count(*) filter (where e.status = 'failed')`.as('failed'),
      sql`count(*) filter (where e.status = 'skipped')`.as('skipped'),
    ])
    .where('e.automation_id', '=', ofAutomation)
    .where(isWithin)
  const converted = db
    .selectFrom('automation_executions as e')
    .innerJoin('conversions as v', (join) => join.on('v.message_id', '=', sql<string>`e.id::text`))
    .select([sql`count(*)`.as('converted'), sql`coalesce(sum(v.revenue), 0)`.as('revenue')])
    .where('e.automation_id', '=', ofAutomation)
    .where('e.converted_at', 'is not', null)
    .where('v.source_type', '=', 'automation')
    .where(isCountedConversion('v'))
    .where('v.currency', '=', values.currency)
    .where(isWithin)
  const pending = db
    .selectFrom('automation_executions as e')
    .select(sql`count(*)`.as('n'))
    .where('e.automation_id', '=', ofAutomation)
    .where('e.status', 'in', [sql.lit('pending'), sql.lit('sending')])
  const counted = db
    .selectFrom(ended.as('d'))
    .innerJoin(converted.as('c'), (join) => join.onTrue())
    .select(
      jsonObject({
        sent: 'd.sent',
        delivered: 'd.delivered',
        failed: 'd.failed',
        skipped: 'd.skipped',
        converted: 'c.converted',
        revenue: 'c.revenue',
        currency: sql`${values.currency}::text`,
        pending: sql`(${pending})`,
      }).as('json'),
    )
  return sql`(${counted})`
}

/** The JSON of an automation. Needs the alias `a`. */
const automationJson = (db: Db, values: Days, extensions: MergedExtensions): RawBuilder<unknown> =>
  jsonObject({
    id: 'a.id',
    type: 'a.type',
    name: 'a.name',
    isActive: 'a.is_active',
    activatedAt: isoInstant('a.activated_at'),
    delayMinutes: 'a.delay_minutes',
    message: 'a.message',
    coupon: 'a.coupon',
    conditions: 'a.conditions',
    skipIfPurchased: 'a.skip_if_purchased',
    quietHours: 'a.quiet_hours',
    settings: 'a.settings',
    flow: 'a.flow',
    flowVersion: 'a.flow_version',
    warnings: warningsJson(db, extensions),
    stats: statsJson(db, values),
    createdBy: personJson(db, 'a.created_by'),
    createdAt: isoInstant('a.created_at'),
    updatedAt: isoInstant('a.updated_at'),
  })

/** Reads an automation. Refuses an unknown one. */
export const readAutomation = preparedOne<Days>(
  noSuchAutomation,
  (db, values, extensions) => ({
    rows: db.selectFrom('automations as a').where('a.id', '=', values.id).where('a.deleted_at', 'is', null),
    item: automationJson(db, values, extensions),
  }),
  { values: getDays, planOnce: false },
)

export interface AutomationFilters {
  type?: string[] | undefined
  isActive?: boolean | undefined
  /** A part of the name, case-insensitive. */
  search?: string | undefined
}

const findAutomations = preparedList<AutomationFilters & Days>((db, values, has, extensions) => {
  // biome-ignore lint/suspicious/noExplicitAny: the builder's type grows with each filter
  let rows: SelectQueryBuilder<any, any, any> = db
    .selectFrom('automations as a')
    .where('a.deleted_at', 'is', null)
  if (has('type')) rows = rows.where('a.type', '=', sql<string>`any(${values.type}::text[])`)
  if (has('isActive')) rows = rows.where('a.is_active', '=', values.isActive)
  if (has('search')) rows = rows.where(matchesWords(['a.name'], values.search))
  return { rows, item: automationJson(db, values, extensions), order: [['a.id', 'desc']], page: 'a' }
})

/** Lists automations, newest first. */
export const listAutomations = (ctx: Context, filters: AutomationFilters & Paging): Promise<JsonText> =>
  findAutomations(ctx, { ...filters, ...getDays(ctx) })
