/** Settings of the alerts: one row a store, which may be there before they are saved. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { templates } from '#operations/messaging/door'
import { connections, files } from '#operations/store/door'
import * as storefront from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { greatestKnown } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { given } from '#runtime/values/changes'
import { stockReconcile } from '../handles.ts'
import { type AlertChange, type AlertContent, defaultAlerts, stockAlertSettings } from './schema.ts'
import { misfit } from './template.ts'

interface Found {
  content: AlertContent | null
  webhook_registered_at: Date | null
  is_registered: boolean
  last_stock_event_at: Date | null
  updated_at: Date | null
  template_status: string | null
}

const found = prepared<Record<never, never>, Found>((db) =>
  db
    .selectFrom('stock_alert_settings as s')
    .leftJoin('connections as c', (join) => join.on('c.port', '=', sql.lit('ecommerce')))
    .leftJoin('message_templates as t', (join) =>
      join.on(sql<boolean>`t.id = (s.content ->> 'officialapiTemplateId')::bigint`),
    )
    .select([
      sql<AlertContent | null>`s.content`.as('content'),
      's.webhook_registered_at',
      sql<boolean>`coalesce(s.webhook_connection_at = c.connected_at, false)`.as('is_registered'),
      's.last_stock_event_at',
      's.updated_at',
      't.status as template_status',
    ]),
)

/** What senders and the storefront go by: the defaults until they are saved. */
export async function readAlerts(ctx: Context): Promise<AlertContent> {
  const [row] = await found(ctx, {})
  return row?.content ?? defaultAlerts
}

/** The settings as they are answered; the webhook's secret is no part of them. */
export async function readAlertSettings(ctx: Context): Promise<z.input<typeof stockAlertSettings>> {
  const [row] = await found(ctx, {})
  return {
    ...(row?.content ?? defaultAlerts),
    webhookRegistered: row?.is_registered ?? false,
    webhookRegisteredAt: row?.webhook_registered_at?.toISOString() ?? null,
    lastStockEventAt: row?.last_stock_event_at?.toISOString() ?? null,
    officialapiTemplateStatus: row?.template_status ?? null,
    updatedAt: row?.updated_at?.toISOString() ?? null,
  }
}

/**
 * Registers the platform's webhook first, outside any transaction, then saves. What is left out stays, within
 * `templateEmail` too. Refuses without a platform; throws, nothing saved, when it does not answer.
 */
export async function saveAlerts(ctx: Context, change: AlertChange): Promise<void> {
  await files.requireNamed(ctx, stockAlertSettings, { before: await readAlerts(ctx), after: change })
  await refuseMisfit(ctx, change)
  await registerWebhook(ctx)
  await ctx.transaction(async (tx) => {
    const before = await lockContent(tx)
    const { templateEmail, ...fields } = change
    const after: AlertContent = {
      ...before,
      ...given(fields),
      templateEmail: { ...before.templateEmail, ...given(templateEmail ?? {}) },
    }
    await write(tx, before, after)
  })
}

/** Any number is stored, but no template that takes other parameters than there are; one that is there already stays. */
async function refuseMisfit(ctx: Context, { officialapiTemplateId: id }: AlertChange): Promise<void> {
  if (!id || id === (await readAlerts(ctx)).officialapiTemplateId) return
  const template = await templates.get(ctx, id)
  const fault = template && misfit(template)
  if (fault) throw refuse('bad_request', `officialapiTemplateId: the template ${fault}`)
}

/** Turned on by the onboarding, in its transaction: the webhook is left to the reconciliation that this queues. */
export async function turnOn(ctx: Context): Promise<void> {
  const before = await lockContent(ctx)
  await write(ctx, before, { ...before, isEnabled: true })
}

/** Waits for others who save, and makes the row where there is none. */
async function lockContent(tx: Context): Promise<AlertContent> {
  await ensureRow(tx)
  const row = await tx.db
    .selectFrom('stock_alert_settings')
    .select('content')
    .forUpdate()
    .executeTakeFirstOrThrow()
  return (row.content as AlertContent | null) ?? defaultAlerts
}

const ensureRow = (tx: Context) =>
  tx.db
    .insertInto('stock_alert_settings')
    .values({ is_enabled: false })
    .onConflict((conflict) => conflict.column('store_id').doNothing())
    .execute()

async function write(tx: Context, before: AlertContent, after: AlertContent): Promise<void> {
  if (isDeepStrictEqual(before, after)) return
  await tx.db
    .updateTable('stock_alert_settings')
    .set({ content: JSON.stringify(after), is_enabled: after.isEnabled, updated_at: tx.now() })
    .execute()
  await files.keepNamed(tx, 'stock:settings', stockAlertSettings, { before, after })
  await storefront.changed(tx)
  if (after.isEnabled && !before.isEnabled) await tx.queue(stockReconcile, {})
}

/**
 * Makes sure that the platform tells us of stock. What it knows already stays, there and here. Refuses without a
 * platform; throws when it does not answer.
 */
export async function registerWebhook(ctx: Context): Promise<void> {
  const connected = await connections.requireEcommerce(ctx)
  const isNew = await connections.registerWebhooks(ctx, connected, ['stock.updated'])
  const { connectedAt } = connected
  await ctx.transaction(async (tx) => {
    await ensureRow(tx)
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
