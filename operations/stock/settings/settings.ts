/** Settings of the alerts: one row a store, which may be there before they are saved. */

import { sql } from 'kysely'
import { templates } from '#operations/messaging/door'
import { connections, files } from '#operations/store/door'
import * as storefront from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { settings } from '#runtime/database/settings'
import { greatestKnown } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import { inWords, said } from '#runtime/values/wording'
import { stockReconcile } from '../handles.ts'
import { type AlertContent, alertWords, defaultAlerts, looks, stockAlertSettings } from './schema.ts'
import { misfit } from './template.ts'

interface Standing {
  webhook_registered_at: Date | null
  is_registered: boolean
  last_stock_event_at: Date | null
  template_status: string | null
}

const standing = prepared<Record<never, never>, Standing>((db) =>
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
 * A save registers the platform's webhook first: without a platform it is refused, and nothing is saved while the
 * platform does not answer. The webhook's secret is no part of them.
 */
export const alertSettings = settings({
  name: 'stock:settings',
  table: 'stock_alert_settings',
  isDated: false,
  defaults: defaultAlerts,
  words: alertWords,
  schema: stockAlertSettings,
  async prepare(ctx, after, before) {
    await files.requireNamed(ctx, stockAlertSettings, { before, after })
    await refuseMisfit(ctx, after, before)
    await registerWebhook(ctx)
  },
  also: ({ isEnabled }) => ({ is_enabled: isEnabled }),
  async saved(tx, after, before) {
    await storefront.changed(tx)
    if (after.isEnabled && !before.isEnabled) await tx.queue(stockReconcile, {})
  },
  async shown(ctx) {
    const [row] = await standing(ctx, {})
    return {
      webhookRegistered: row?.is_registered ?? false,
      webhookRegisteredAt: row?.webhook_registered_at?.toISOString() ?? null,
      lastStockEventAt: row?.last_stock_event_at?.toISOString() ?? null,
      officialapiTemplateStatus: row?.template_status ?? null,
    }
  },
})

/** What senders go by, in the language of who gets it. */
export const readAlerts = alertSettings.forShoppers

/** What the storefront goes by: null is the built-in text there; empty stays empty. */
export async function alertsForShoppers(ctx: Context): Promise<AlertContent> {
  const settings = await alertSettings.forShoppers(ctx)
  const builtIn = inWords(defaultAlerts, alertWords, ctx.store.locale)
  return { ...settings, ...Object.fromEntries(looks.map((name) => [name, settings[name] ?? builtIn[name]])) }
}

type Texts = keyof Omit<typeof alertWords, 'templateEmail'>

/** Of the built-in texts, where a shopper has to be told something. */
export const builtInText = (ctx: Context, name: Texts): string => said(alertWords[name], ctx.store.locale)

/** Any number is stored, but no template that takes other parameters than there are; one that is there already stays. */
async function refuseMisfit(
  ctx: Context,
  { officialapiTemplateId: id }: AlertContent,
  before: AlertContent,
): Promise<void> {
  if (!id || id === before.officialapiTemplateId) return
  const template = await templates.get(ctx, id)
  const fault = template && misfit(template)
  if (fault) throw refuse('bad_request', `officialapiTemplateId: the template ${fault}`)
}

/** Turned on by the onboarding, in its transaction: the webhook is left to the reconciliation that this queues. */
export const turnOn = (ctx: Context): Promise<void> =>
  alertSettings.write(ctx, (before) => ({ ...before, isEnabled: true }))

/**
 * Makes sure that the platform tells us of stock. What it knows already stays, there and here. Refuses without a
 * platform; throws when it does not answer.
 */
export async function registerWebhook(ctx: Context): Promise<void> {
  const connected = await connections.requireEcommerce(ctx)
  const isNew = await connections.registerWebhooks(ctx, connected, ['stock.updated'])
  const { connectedAt } = connected
  // What is saved by the request comes after it, and is what its If-Match and its key are of.
  await ctx.observing().transaction(async (tx) => {
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

/** Notes that the platform told us of stock; an older word of it changes nothing. */
export async function noteStockEvent(tx: Context, at: Date): Promise<void> {
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
