/** Settings of alerts about real events in the store; a store has at most one alert per type. */
import { isDeepStrictEqual } from 'node:util'
import { markStorefrontChanged, type Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuseDuplicate } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { mergeChange } from '#runtime/values/changes'
import { findVariableIssue } from '#runtime/values/variables'
import {
  type AlertChange,
  type AlertContent,
  changedAlert,
  defaultAlert,
  type FomoAlert,
  newAlert,
} from './schema.ts'
import { type AlertType, alertKinds, alertTypes, isAlertType } from './types.ts'

interface AlertRow {
  id: string
  alert_type: string
  content: unknown
  created_at: Date
  updated_at: Date
}

const all = prepared<object, AlertRow>((db) =>
  db.selectFrom('fomo_alerts').select(['id', 'alert_type', 'content', 'created_at', 'updated_at']),
)

/** Lists one alert per type, in a fixed order. An alert that was never created has default settings and no id. */
export async function listAlerts(ctx: Context): Promise<FomoAlert[]> {
  const rows = new Map((await all(ctx, {})).map((row) => [row.alert_type, row]))
  return alertTypes.map((type) => toAlert(type, rows.get(type)))
}

/** Throws not_found for an unknown type. */
export async function readAlert(ctx: Context, type: string): Promise<FomoAlert> {
  if (!isAlertType(type)) throw refuse('not_found', 'There is no such type of alert')
  return (await listAlerts(ctx)).find((alert) => alert.alertType === type)!
}

export async function readAlertById(ctx: Context, id: string): Promise<FomoAlert> {
  const row = findAlert(await all(ctx, {}), id)
  return toAlert(row.alert_type as AlertType, row)
}

function findAlert(rows: readonly AlertRow[], id: string): AlertRow {
  const row = rows.find((each) => each.id === id.toLowerCase())
  if (!row) throw refuse('not_found', 'There is no such alert')
  return row
}

function toAlert(type: AlertType, row: AlertRow | undefined): FomoAlert {
  return {
    id: row?.id ?? null,
    alertType: type,
    ...mergeContent(type, row),
    createdAt: row?.created_at.toISOString() ?? null,
    updatedAt: row?.updated_at.toISOString() ?? null,
  }
}

const mergeContent = (type: AlertType, row: AlertRow | undefined): AlertContent =>
  mergeChange(defaultAlert(type), (row?.content ?? {}) as Partial<AlertContent>)

/**
 * Creates the alert of a type. Refuses a type whose alert exists already, unknown variables, and products that do not
 * exist. Not inside a transaction.
 */
export async function createAlert(ctx: Context, input: z.infer<typeof newAlert>): Promise<AlertType> {
  const { alertType, ...change } = input
  const exists = `The alert ${alertType} was created before: update it with PUT /fomo-alerts/update`
  const content = validateAlert(alertType, mergeChange(defaultAlert(alertType), change))
  if ((await readAlert(ctx, alertType)).id !== null) throw refuse('conflict', exists)
  await requireReferences(ctx, newAlert, { before: null, after: input, kinds: ['product'] })
  const now = ctx.now()
  const row = { alert_type: alertType, content: JSON.stringify(content), created_at: now, updated_at: now }
  const create = async (tx: Context): Promise<void> => {
    await tx.db
      .insertInto('fomo_alerts')
      .values({ id: tx.newId(), ...row })
      .execute()
    await markStorefrontChanged(tx)
  }
  await refuseDuplicate('fomo_alerts_type', exists, () => ctx.transaction(create))
  return alertType
}

/** Merges the change into the saved alert, and checks the result like `createAlert`. Refuses an unknown id. */
export async function updateAlert(ctx: Context, id: string, change: AlertChange): Promise<AlertType> {
  const known = findAlert(await all(ctx, {}), id)
  const type = known.alert_type as AlertType
  const named = { before: mergeContent(type, known), after: change }
  await requireReferences(ctx, changedAlert, { ...named, kinds: ['product'] })
  await ctx.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('fomo_alerts')
      .selectAll()
      .where('id', '=', known.id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const before = mergeContent(type, row)
    const after = validateAlert(type, mergeChange(before, change))
    if (isDeepStrictEqual(before, after)) return
    await tx.db
      .updateTable('fomo_alerts')
      .set({ content: JSON.stringify(after), updated_at: tx.now() })
      .where('id', '=', row.id)
      .execute()
    await markStorefrontChanged(tx)
  })
  return type
}

function validateAlert(type: AlertType, content: AlertContent): AlertContent {
  const issue = findVariableIssue(content.text, new Set(alertKinds[type].variables))
  if (issue) throw refuse('bad_request', `text: ${issue}`)
  if (content.maxPerSession < content.maxPerPage) {
    throw refuse('bad_request', 'maxPerSession: must not be below maxPerPage')
  }
  return content
}

/** Lists the enabled alerts, in a fixed order. */
export async function listEnabledAlerts(
  ctx: Context,
): Promise<{ alertType: AlertType; content: AlertContent }[]> {
  const rows = new Map((await all(ctx, {})).map((row) => [row.alert_type, row]))
  return alertTypes
    .filter((type) => rows.has(type))
    .map((type) => ({ alertType: type, content: mergeContent(type, rows.get(type)) }))
    .filter(({ content }) => content.isEnabled)
}

/** Builds the widget with the appearance and timing of the alerts. Their texts are in the feed. */
export async function buildAlertsWidget(ctx: Context): Promise<Widget | null> {
  const alerts = (await listEnabledAlerts(ctx)).map(({ alertType, content }) => {
    const { isEnabled, text, windowHours, minCount, nameFormat, excludedProductIds, ...shown } = content
    return { alertType, ...shown }
  })
  return alerts.length === 0 ? null : { value: alerts }
}

/** Returns those of `types` whose alerts are enabled. Only enabled alerts can have impressions and clicks. */
export async function filterEnabledTypes(
  ctx: Context,
  types: readonly string[],
): Promise<ReadonlySet<string>> {
  const on = new Set<string>((await listEnabledAlerts(ctx)).map(({ alertType }) => alertType))
  return new Set(types.filter((type) => on.has(type)))
}
