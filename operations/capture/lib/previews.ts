/** Previews: settings that are shown and not saved, behind a signed link that lives a day. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/ids'
import { id, instant, object, z } from '#runtime/schema'
import { isSigned, sign } from '#runtime/secrets'
import { merged } from './merge.ts'
import { defaultPopup } from './popup-defaults.ts'
import { changedPopup } from './popup-merge.ts'
import { refuseForeignImages } from './popup-providers.ts'
import { refusePopupFaults } from './popup-rules.ts'
import type { PopupInput, PopupSettings } from './popup-schema.ts'
import { requireList, savedPopup } from './popup-settings.ts'

const livesMs = 24 * 3_600_000
const keptAtMost = 20

export const preview = object({
  id,
  url: z.string().describe("On the store's own pages"),
  hostedUrl: z.string().describe('A page of this server'),
  expiresAt: instant,
})

const purpose = 'newsletter-preview'
const textOf = (ctx: Context, previewId: string): string => `${ctx.store.id}\n${previewId}`

/** Keeps the settings as a save would leave them, in the caller's transaction. Refuses what a save would refuse. */
export async function createPreview(ctx: Context, input: PopupInput): Promise<z.infer<typeof preview>> {
  const { settings } = await savedPopup(ctx)
  const shown = changedPopup(settings, input, () => ctx.newId())
  refusePopupFaults(shown)
  refuseForeignImages(ctx, settings, shown)
  await requireList(ctx, settings, shown)
  const previewId = ctx.newId()
  const now = ctx.now()
  const expiresAt = new Date(now.getTime() + livesMs)
  await ctx.db
    .insertInto('newsletter_previews')
    .values({ id: previewId, settings: JSON.stringify(shown), expires_at: expiresAt, created_at: now })
    .execute()
  const newest = ctx.db
    .selectFrom('newsletter_previews')
    .select('id')
    .orderBy('id', 'desc')
    .limit(sql<number>`${keptAtMost}::int`)
  await ctx.db.deleteFrom('newsletter_previews').where('id', 'not in', newest).execute()
  const token = `${previewId}.${sign(ctx.settings, purpose, textOf(ctx, previewId))}`
  const { publicUrl } = ctx.settings
  return {
    id: previewId,
    url: `https://${ctx.store.domain}/?popup_preview=${token}`,
    hostedUrl: `${publicUrl}/storefront/${ctx.store.publicId}/newsletter/preview?token=${token}`,
    expiresAt: expiresAt.toISOString(),
  }
}

/** The settings behind a link's token; null when it is forged, expired or no longer kept. */
export async function findPreview(ctx: Context, token: string): Promise<PopupSettings | null> {
  const [previewId = '', signature = ''] = token.split('.')
  if (!isId(previewId) || !isSigned(ctx.settings, purpose, textOf(ctx, previewId), signature)) return null
  const row = await ctx.db
    .selectFrom('newsletter_previews')
    .select('settings')
    .where('id', '=', previewId)
    .where('expires_at', '>', ctx.now())
    .executeTakeFirst()
  return row ? merged(defaultPopup, row.settings as never) : null
}
