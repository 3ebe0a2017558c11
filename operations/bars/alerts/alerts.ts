/** Small alerts of what really happened in the store, at most one a type. */
import { isDeepStrictEqual } from 'node:util'
import { changed, type Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { unlessTaken } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { variableFault } from '#runtime/values/variables'
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

/** One for each type, in their order; the defaults without an id where it was never created. */
export async function listAlerts(ctx: Context): Promise<FomoAlert[]> {
  const rows = new Map((await all(ctx, {})).map((row) => [row.alert_type, row]))
  return alertTypes.map((type) => alertOf(type, rows.get(type)))
}

/** Refuses with `not_found` what is no type. */
export async function readAlert(ctx: Context, type: string): Promise<FomoAlert> {
  if (!isAlertType(type)) throw refuse('not_found', 'There is no such type of alert')
  return (await listAlerts(ctx)).find((alert) => alert.alertType === type)!
}

export async function readAlertById(ctx: Context, id: string): Promise<FomoAlert> {
  const row = alertIn(await all(ctx, {}), id)
  return alertOf(row.alert_type as AlertType, row)
}

function alertIn(rows: readonly AlertRow[], id: string): AlertRow {
  const row = rows.find((each) => each.id === id.toLowerCase())
  if (!row) throw refuse('not_found', 'There is no such alert')
  return row
}

function alertOf(type: AlertType, row: AlertRow | undefined): FomoAlert {
  return {
    id: row?.id ?? null,
    alertType: type,
    ...contentOf(type, row),
    createdAt: row?.created_at.toISOString() ?? null,
    updatedAt: row?.updated_at.toISOString() ?? null,
  }
}

const contentOf = (type: AlertType, row: AlertRow | undefined): AlertContent =>
  merged(defaultAlert(type), (row?.content ?? {}) as Partial<AlertContent>)

/**
 * Not inside a transaction. Refuses a type that was created before, variables that the type does not have, and
 * products that there are none of.
 */
export async function createAlert(ctx: Context, input: z.infer<typeof newAlert>): Promise<AlertType> {
  const { alertType, ...change } = input
  const exists = `The alert ${alertType} was created before: update it with PUT /fomo-alerts/update`
  const content = checked(alertType, merged(defaultAlert(alertType), change))
  if ((await readAlert(ctx, alertType)).id !== null) throw refuse('conflict', exists)
  await requireReferences(ctx, newAlert, { before: null, after: input, kinds: ['product'] })
  const now = ctx.now()
  const row = { alert_type: alertType, content: JSON.stringify(content), created_at: now, updated_at: now }
  const create = async (tx: Context): Promise<void> => {
    await tx.db
      .insertInto('fomo_alerts')
      .values({ id: tx.newId(), ...row })
      .execute()
    await changed(tx)
  }
  await unlessTaken('fomo_alerts_type', exists, () => ctx.transaction(create))
  return alertType
}

/** As `createAlert`, over what is saved; the same again changes nothing. Refuses an unknown id. */
export async function updateAlert(ctx: Context, id: string, change: AlertChange): Promise<AlertType> {
  const known = alertIn(await all(ctx, {}), id)
  const type = known.alert_type as AlertType
  const named = { before: contentOf(type, known), after: change }
  await requireReferences(ctx, changedAlert, { ...named, kinds: ['product'] })
  await ctx.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('fomo_alerts')
      .selectAll()
      .where('id', '=', known.id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const before = contentOf(type, row)
    const after = checked(type, merged(before, change))
    if (isDeepStrictEqual(before, after)) return
    await tx.db
      .updateTable('fomo_alerts')
      .set({ content: JSON.stringify(after), updated_at: tx.now() })
      .where('id', '=', row.id)
      .execute()
    await changed(tx)
  })
  return type
}

function checked(type: AlertType, content: AlertContent): AlertContent {
  const fault = variableFault(content.text, new Set(alertKinds[type].variables))
  if (fault) throw refuse('bad_request', `text: ${fault}`)
  if (content.maxPerSession < content.maxPerPage) {
    throw refuse('bad_request', 'maxPerSession: must not be below maxPerPage')
  }
  return content
}

/** Those that are on. */
export async function enabledAlerts(
  ctx: Context,
): Promise<{ alertType: AlertType; content: AlertContent }[]> {
  const rows = new Map((await all(ctx, {})).map((row) => [row.alert_type, row]))
  return alertTypes
    .filter((type) => rows.has(type))
    .map((type) => ({ alertType: type, content: contentOf(type, rows.get(type)) }))
    .filter(({ content }) => content.isEnabled)
}

/** How the alerts look and when they show; what they say is in the feed. */
export async function alertsWidget(ctx: Context): Promise<Widget | null> {
  const alerts = (await enabledAlerts(ctx)).map(({ alertType, content }) => {
    const { isEnabled, text, windowHours, minCount, nameFormat, excludedProductIds, ...shown } = content
    return { alertType, ...shown }
  })
  return alerts.length === 0 ? null : { value: alerts }
}

/** Of these types, those whose alerts are on: only they can be seen and clicked. */
export async function countedAlerts(ctx: Context, types: readonly string[]): Promise<ReadonlySet<string>> {
  const on = new Set<string>((await enabledAlerts(ctx)).map(({ alertType }) => alertType))
  return new Set(types.filter((type) => on.has(type)))
}
