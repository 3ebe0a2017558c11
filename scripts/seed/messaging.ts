/** The demo's numbers, and Aurora's templates. */

import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { connectNumber, makeTemplate, type NewTemplate } from '#scripts/seed/connect-number'
import templates from './data/templates.json' with { type: 'json' }
import { resolvePlaceholders } from './data.ts'
import type { DemoStore } from './demo-store.ts'

export interface DemoTemplate
  extends Pick<NewTemplate, 'language' | 'category' | 'header' | 'footer' | 'buttons'> {
  name: string
  body: string
  /** One for each placeholder of the body and of the buttons. */
  examples: string[]
  buttonExamples?: string[]
  status: 'approved' | 'pending' | 'rejected' | 'paused'
  daysAgo: number
}

export const auroraTemplates = templates as DemoTemplate[]

/** An official number, connected and selected, with twelve templates. */
export async function seedAuroraMessaging(ctx: Context, store: DemoStore): Promise<void> {
  await ctx.transaction(async (tx) => {
    const connectedAt = store.timeline.ago(400)
    await connectNumber(tx, { type: 'official', phone: '+551140001000', connectedAt })
    const known = await tx.db.selectFrom('message_templates').select(['id', 'name']).execute()
    for (const { id, name } of known) store.names.set(`template:${name}`, id)
    for (const template of auroraTemplates) {
      const name = `template:${template.name}`
      if (!store.names.has(name))
        store.names.set(
          name,
          await addTemplate(tx, store, resolvePlaceholders(store, template) as DemoTemplate),
        )
    }
  })
}

/** The shared number, connected and selected; an official one was disconnected a month ago. */
export async function seedBorealisMessaging(ctx: Context, { timeline }: DemoStore): Promise<void> {
  await ctx.transaction(async (tx) => {
    const [connectedAt, updatedAt] = [timeline.ago(80), timeline.ago(30)]
    const given = { type: 'official', provider: 'sandbox', status: 'none' }
    await tx.db
      .insertInto('messaging_connections')
      .values({ ...given, created_at: connectedAt, updated_at: updatedAt })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await connectNumber(tx, { type: 'shared', phone: '+5511900000000', connectedAt: updatedAt })
  })
}

/** Reviewed a few minutes after its submission, and seen at every sync since. */
async function addTemplate(tx: Context, store: DemoStore, template: DemoTemplate): Promise<number> {
  const { timeline } = store
  const { examples, buttonExamples = [], daysAgo, ...content } = template
  const submittedAt = timeline.ago(daysAgo)
  const reviewedAt = template.status === 'pending' ? null : new Date(submittedAt.getTime() + 7 * minuteMs)
  const id = await makeTemplate(tx, {
    ...content,
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
