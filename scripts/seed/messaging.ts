/** The numbers the demo's messages leave through, and Aurora's templates. */

import type { Context } from '#runtime/context'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { uploaded } from './media.ts'
import type { DemoStore } from './store.ts'
import { auroraTemplates, type DemoTemplate } from './templates.ts'
import { hourMs, minuteMs } from './timeline.ts'

/** An official number, connected and selected, with twelve templates; answers their ids by name. */
export async function seedAuroraMessaging(ctx: Context, store: DemoStore): Promise<Map<string, number>> {
  return ctx.transaction(async (tx) => {
    const connectedAt = store.timeline.ago(400)
    await connectNumber(tx, { type: 'official', phone: '+551140001000', connectedAt })
    const rows = await tx.db.selectFrom('message_templates').select(['id', 'name']).execute()
    const ids = new Map(rows.map(({ id, name }) => [name, id]))
    for (const template of auroraTemplates) {
      if (!ids.has(template.name)) ids.set(template.name, await addTemplate(tx, store, template))
    }
    return ids
  })
}

/** The shared number, connected and selected; an official one was given up a month ago. */
export async function seedBorealisMessaging(ctx: Context, store: DemoStore): Promise<void> {
  await ctx.transaction(async (tx) => {
    const { timeline } = store
    await connectNumber(tx, { type: 'official', phone: '+13125550186', connectedAt: timeline.ago(80) })
    await tx.db
      .updateTable('messaging_connections')
      .set({
        status: 'none',
        credentials: null,
        account_id: null,
        phone: null,
        phone_key: null,
        display_name: null,
        display_name_status: null,
        health: null,
        health_at: null,
        connected_at: null,
        checked_at: null,
        updated_at: timeline.ago(30),
      })
      .where('type', '=', 'official')
      .execute()
    await tx.system.deleteFrom('sandbox_numbers').where('store_id', '=', tx.store.id).execute()
    await connectNumber(tx, { type: 'shared', phone: '+5511900000000', connectedAt: timeline.ago(30) })
  })
}

/** Reviewed a few minutes after it was handed in, and seen at every sync since. */
async function addTemplate(tx: Context, store: DemoStore, template: DemoTemplate): Promise<number> {
  const { timeline } = store
  const { examples, buttonExamples, daysAgo, header, ...content } = template
  const submittedAt = timeline.ago(daysAgo)
  const reviewedAt = template.status === 'pending' ? null : new Date(submittedAt.getTime() + 7 * minuteMs)
  const id = await makeTemplate(tx, {
    ...content,
    header: header && {
      ...header,
      mediaUrl: header.type === 'image' ? uploaded(store, template.name) : null,
    },
    examples: { header: [], body: examples, buttons: buttonExamples },
    submittedAt,
  })
  const isPaused = template.status === 'paused'
  const quality = template.status === 'approved' ? 'green' : isPaused ? 'red' : 'unknown'
  const reason = template.status === 'rejected' ? 'promotional' : null
  const pausedUntil = isPaused ? new Date(timeline.now.getTime() + 3 * hourMs) : null
  await tx.system
    .updateTable('sandbox_templates')
    .set({ quality, reason, paused_until: pausedUntil })
    .where('store_id', '=', tx.store.id)
    .where('name', '=', template.name)
    .execute()
  await tx.db
    .updateTable('message_templates')
    .set({
      reviewed_at: reviewedAt,
      synced_at: timeline.ago(2 / 24),
      quality,
      rejection_reason: reason,
      paused_until: pausedUntil,
      updated_at: isPaused ? timeline.ago(12) : (reviewedAt ?? submittedAt),
    })
    .where('id', '=', id)
    .execute()
  return id
}
