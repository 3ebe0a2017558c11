/** The storefront's chat button, at most one per store. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/index'
import { markStorefrontChanged, type Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuseDuplicate, requireRow } from '#runtime/database/rows'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
import { requirePhone } from '#runtime/values/phone'
import { translateBuiltIn } from '#runtime/values/wording'
import {
  type ButtonChange,
  type ButtonContent,
  buttonWords,
  defaultButton,
  messagingButton,
} from './schema.ts'

interface ButtonRow {
  id: string | null
  content: ButtonContent | null
  created_at: Date | null
  updated_at: Date | null
  connected_phone: string | null
  clicks: number
  impressions: number
}

const countedDays = 30

const findRow = prepared<{ now: Date }, ButtonRow>((db, values) => {
  const today = sql`(${values.now}::timestamptz at time zone s.timezone)::date`
  const counted = db
    .selectFrom('widget_daily as w')
    .where('w.widget', '=', 'messaging-button')
    .where(sql<boolean>`w.day > ${today} - ${sql.lit(countedDays)}::int and w.day <= ${today}`)
  const connected = db
    .selectFrom('messaging_connections as c')
    .select('c.phone')
    .where('c.type', '=', sql<string>`s.messaging_connection_type`)
    .where('c.status', '=', 'connected')
  return db
    .selectFrom('stores as s')
    .leftJoin('messaging_buttons as b', (join) => join.onTrue())
    .select([
      'b.id',
      sql<ButtonContent | null>`b.content`.as('content'),
      'b.created_at',
      'b.updated_at',
      sql<string | null>`(${connected})`.as('connected_phone'),
      sql<number>`(${counted.select(sql`coalesce(sum(w.clicks), 0)::int`.as('n'))})`.as('clicks'),
      sql<number>`(${counted.select(sql`coalesce(sum(w.impressions), 0)::int`.as('n'))})`.as('impressions'),
    ])
})

async function findButton(ctx: Context): Promise<ButtonRow> {
  const [row] = await findRow(ctx, { now: ctx.now() })
  return row!
}

/** Reads the button, or the defaults with `id` null if it was never created. */
export async function readButton(ctx: Context): Promise<z.input<typeof messagingButton>> {
  const row = await findButton(ctx)
  const content = row.content ?? defaultButton
  return {
    id: row.id,
    ...content,
    effectivePhone: content.phone ?? row.connected_phone,
    clicks30d: row.clicks,
    impressions30d: row.impressions,
    createdAt: row.created_at?.toISOString() ?? null,
    updatedAt: row.updated_at?.toISOString() ?? null,
  }
}

/**
 * Without a phone of its own, the button opens the connected number. That number may change at any time, so the widget
 * is cached for only a minute.
 */
const connectedForMs = minuteMs

/** Builds the button for the storefront; opening hours are in `timezone`. Returns null if the button is disabled. */
export async function buttonWidget(ctx: Context): Promise<Widget | null> {
  const row = await findButton(ctx)
  if (!row.content?.isEnabled) return null
  const { isEnabled: _on, ...shown } = translateBuiltIn(row.content, buttonWords, ctx.store.locale)
  const phone = shown.phone ?? row.connected_phone
  const isOwn = shown.phone !== null
  const until = isOwn ? null : new Date(ctx.clock.ms() + connectedForMs)
  if (phone === null && shown.attendants.length === 0) return { value: null, until }
  const { name: storeName, timezone } = ctx.store
  return { value: { ...shown, phone, storeName, timezone }, until }
}

/** Runs in the caller's transaction. Refuses a second button, and a button without a number to open. */
export async function createButton(ctx: Context, change: ButtonChange): Promise<void> {
  const row = await findButton(ctx)
  const exists = 'There is a button already: change that one'
  if (row.id !== null) throw refuse('conflict', exists)
  const content = applyChange(defaultButton, change, ctx.store.country)
  requireNumber(content, row.connected_phone)
  const now = ctx.now()
  const created = ctx.db
    .insertInto('messaging_buttons')
    .values({ id: ctx.newId(), content: JSON.stringify(content), created_at: now, updated_at: now })
  await refuseDuplicate('messaging_buttons_pkey', exists, () => created.execute())
  await updateFileUses(ctx, null, content)
  if (content.isEnabled) await markStorefrontChanged(ctx)
}

/** Runs in the caller's transaction. Refuses an unknown id, and a button without a number to open. */
export async function updateButton(ctx: Context, id: string, change: ButtonChange): Promise<void> {
  const locked = ctx.db.selectFrom('messaging_buttons').select('content').forUpdate()
  const row = await requireRow(locked, id, 'There is no such button')
  const before = row.content as ButtonContent
  const content = applyChange(before, change, ctx.store.country)
  if (isDeepStrictEqual(before, content)) return
  requireNumber(content, (await findButton(ctx)).connected_phone)
  await ctx.db
    .updateTable('messaging_buttons')
    .set({ content: JSON.stringify(content), updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
  await updateFileUses(ctx, before, content)
  if (before.isEnabled || content.isEnabled) await markStorefrontChanged(ctx)
}

const updateFileUses = (ctx: Context, before: ButtonContent | null, after: ButtonContent): Promise<void> =>
  files.trackFiles(ctx, 'messaging-button', messagingButton, { before, after })

/** Refreshes the widget of a button without a phone of its own, after the connected number has changed. */
export async function connectedNumberChanged(ctx: Context): Promise<void> {
  const shown = await ctx.db
    .selectFrom('messaging_buttons')
    .select('id')
    .where(sql<boolean>`content -> 'isEnabled' = 'true' and content -> 'phone' = 'null'`)
    .executeTakeFirst()
  if (shown) await markStorefrontChanged(ctx)
}

function requireNumber(content: ButtonContent, connectedPhone: string | null): void {
  if (!content.isEnabled || content.phone || content.attendants.length > 0 || connectedPhone) return
  throw refuse(
    'conflict',
    'The button would open no number: give it a phone or attendants, or connect a number first',
  )
}

/** Merges the change at every depth; lists are replaced. Refuses fields that contradict each other. */
function applyChange(before: ButtonContent, change: ButtonChange, country: string): ButtonContent {
  const { attendants, schedule, phone, ...fields } = change
  const content: ButtonContent = {
    ...before,
    ...omitUndefined(fields),
    phone: phone === undefined ? before.phone : phone && requirePhone(phone, country),
    attendants:
      attendants?.map(({ name, role = null, phone: typed, avatarUrl = null }, at) => ({
        name,
        role,
        phone: requirePhone(typed, country, `attendants.${at}.phone`),
        avatarUrl,
      })) ?? before.attendants,
    schedule: { ...before.schedule, ...omitUndefined(schedule ?? {}) },
  }
  checkHours(content.schedule.hours)
  return content
}

function checkHours(hours: ButtonContent['schedule']['hours']): void {
  for (const [at, { day, start, end }] of hours.entries()) {
    if (start >= end) throw refuse('bad_request', `schedule.hours.${at}.end: must be after its start`)
    const other = hours.findIndex(
      (each, i) => i < at && each.day === day && each.start < end && start < each.end,
    )
    if (other >= 0) {
      throw refuse('bad_request', `schedule.hours.${at}: overlaps schedule.hours.${other}`)
    }
  }
}
