/** Settings of stock alerts: one row per store, which may exist before the merchant saves settings. */

import { sql } from 'kysely'
import { templates } from '#operations/messaging/index'
import { connections, files } from '#operations/store/index'
import * as storefront from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { settings } from '#runtime/database/settings'
import { greatestKnown } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import { getText, translateBuiltIn } from '#runtime/values/wording'
import { stockReconcile } from '../handles.ts'
import {
  type AlertContent,
  alertWords,
  appearanceFields,
  defaultAlerts,
  stockAlertSettings,
} from './schema.ts'
import { findMismatch } from './template.ts'

interface StatusRow {
  webhook_registered_at: Date | null
  is_registered: boolean
  last_stock_event_at: Date | null
  template_status: string | null
}

const findStatus = prepared<Record<never, never>, StatusRow>((db) =>
  db
    .selectFrom('stock_alert_settings as s')
    .leftJoin('connections as c', (join) => join.on('c.port', '=', sql.lit('ecommerce')))
    .leftJoin('message_templates as t', (join) =>
      join.on(sql<boolean>`t.id = (s.content ->> 'officialapiTemplateId')::bigint`),
    )
    .select([
      's.webhook_registered_at',
      sql<boolean>`coalesce(s.webhook_connection_at = c.connected_at, false)`.as('is_registered'),
      's.last_stock_event_at',
      't.status as template_status',
    ]),
)

/**
 * The settings. A save first registers the platform's stock webhook: it is refused if no platform is connected, and saves
 * nothing if the platform does not respond. The settings do not contain the webhook's secret.
 */
export const alertSettings = settings({
  name: 'stock:settings',
  table: 'stock_alert_settings',
  isDated: false,
  defaults: defaultAlerts,
  words: alertWords,
  schema: stockAlertSettings,
  async prepare(ctx, after, before) {
    await files.requireUploadedFields(ctx, stockAlertSettings, { before, after })
    await refuseMismatch(ctx, after, before)
    await registerWebhook(ctx)
  },
  derivedColumns: ({ isEnabled }) => ({ is_enabled: isEnabled }),
  async onSaved(tx, after, before) {
    await storefront.markStorefrontChanged(tx)
    if (after.isEnabled && !before.isEnabled) await tx.queue(stockReconcile, {})
  },
  async answerFields(ctx) {
    const [row] = await findStatus(ctx, {})
    return {
      webhookRegistered: row?.is_registered ?? false,
      webhookRegisteredAt: row?.webhook_registered_at?.toISOString() ?? null,
      lastStockEventAt: row?.last_stock_event_at?.toISOString() ?? null,
      officialapiTemplateStatus: row?.template_status ?? null,
    }
  },
})

/** Reads the settings for sending, in the language for shoppers. */
export const readAlerts = alertSettings.getForShoppers

/**
 * Reads the settings for the storefront. A text that is null is replaced by the built-in text; an empty text stays
 * empty.
 */
export async function readAlertsForShoppers(ctx: Context): Promise<AlertContent> {
  const settings = await alertSettings.getForShoppers(ctx)
  const builtIn = translateBuiltIn(defaultAlerts, alertWords, ctx.store.locale)
  return {
    ...settings,
    ...Object.fromEntries(appearanceFields.map((name) => [name, settings[name] ?? builtIn[name]])),
  }
}

type Texts = keyof Omit<typeof alertWords, 'templateEmail'>

/** Returns a built-in text in the store's language. */
export const getBuiltInText = (ctx: Context, name: Texts): string =>
  getText(alertWords[name], ctx.store.locale)

/**
 * Refuses a template whose parameters alerts cannot fill in. Accepts the template that is already saved, and an unknown
 * id.
 */
async function refuseMismatch(
  ctx: Context,
  { officialapiTemplateId: id }: AlertContent,
  before: AlertContent,
): Promise<void> {
  if (!id || id === before.officialapiTemplateId) return
  const template = await templates.get(ctx, id)
  const issue = template && findMismatch(template)
  if (issue) throw refuse('bad_request', `officialapiTemplateId: the template ${issue}`)
}

/** Turns alerts on during onboarding, in its transaction. The next reconciliation registers the webhook. */
export const enableAlerts = (ctx: Context): Promise<void> =>
  alertSettings.write(ctx, (before) => ({ ...before, isEnabled: true }))

/**
 * Registers the platform's stock webhook, unless it is registered. Refuses if no platform is connected; throws if the
 * platform does not respond.
 */
export async function registerWebhook(ctx: Context): Promise<void> {
  const connected = await connections.requireEcommerce(ctx)
  const isNew = await connections.registerWebhooks(ctx, connected, ['stock.updated'])
  const { connectedAt } = connected
  // Detached from the request, whose If-Match and idempotency key refer to the save that follows.
  await ctx.detached().transaction(async (tx) => {
    await tx.db
      .insertInto('stock_alert_settings')
      .values({ is_enabled: false })
      .onConflict((conflict) => conflict.column('store_id').doNothing())
      .execute()
    await tx.db
      .updateTable('stock_alert_settings')
      .set({ webhook_registered_at: tx.now(), webhook_connection_at: connectedAt })
      .$if(!isNew, (update) =>
        update.where(sql<boolean>`webhook_connection_at is distinct from ${connectedAt}::timestamptz`),
      )
      .execute()
  })
}

/** Records when the platform last reported stock. An older event changes nothing. */
export async function recordStockEvent(tx: Context, at: Date): Promise<void> {
  await tx.db
    .insertInto('stock_alert_settings')
    .values({ last_stock_event_at: at })
    .onConflict((conflict) =>
      conflict.column('store_id').doUpdateSet({
        last_stock_event_at: greatestKnown<Date>(
          sql.ref('stock_alert_settings.last_stock_event_at'),
          sql.ref('excluded.last_stock_event_at'),
        ),
      }),
    )
    .execute()
}
