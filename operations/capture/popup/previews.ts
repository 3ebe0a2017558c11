/** Previews: settings that are shown and not saved, behind a signed link that lives a day. */

import { sql } from 'kysely'
import { files } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refusal, refuse } from '#runtime/errors'
import { id, instant, object, z } from '#runtime/schema'
import { isSigned, sign } from '#runtime/secrets'
import { merged } from '#runtime/values/changes'
import { isId } from '#runtime/values/ids'
import { inWords } from '#runtime/values/wording'
import { defaultPopup, popupWords } from './defaults.ts'
import { changedPopup } from './merge.ts'
import { type PopupInput, type PopupSettings, popupSettings } from './schema.ts'
import { checkPopup, popup } from './settings.ts'

const livesMs = dayMs
const keptAtMost = 20

export const preview = object({
  id,
  url: z.string().describe("On the store's own pages"),
  hostedUrl: z.string().describe('A page of this server'),
  expiresAt: instant,
})

const purpose = 'newsletter-preview'
const textOf = (ctx: Context, previewId: string): string => `${ctx.store.id}\n${previewId}`

/** Who uses the pictures of a preview: they stay for as long as it does. */
const ownerOf = (previewId: string): string => `newsletter-preview:${previewId}`

/** Drops those whose day is over, with their uses of files. */
export async function dropOldPreviews(ctx: SystemContext): Promise<void> {
  const over = await ctx.root
    .deleteFrom('newsletter_previews')
    .where('expires_at', '<', ctx.now())
    .returning(['store_id', 'id'])
    .execute()
  await files.letGo(
    ctx,
    over.map((row) => ({ storeId: row.store_id, owner: ownerOf(row.id) })),
  )
}

/** As `keepPreview`; what it refuses is named where this body has it. */
export async function createPreview(ctx: Context, input: PopupInput): Promise<z.infer<typeof preview>> {
  try {
    return await keepPreview(ctx, input)
  } catch (error) {
    if (!(error instanceof Refusal) || !/^[a-z]\w*(\.\w+)*: /.test(error.message)) throw error
    throw refuse(error.code, `settings.${error.message}`)
  }
}

/** Keeps the settings as a save would leave them, in the caller's transaction. Refuses what a save would refuse. */
async function keepPreview(ctx: Context, input: PopupInput): Promise<z.infer<typeof preview>> {
  const settings = await popup.inForce(ctx)
  const shown = changedPopup(settings, input, () => ctx.newId())
  await checkPopup(ctx, shown, settings)
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
  const over = await ctx.db
    .deleteFrom('newsletter_previews')
    .where('id', 'not in', newest)
    .returning('id')
    .execute()
  for (const each of over) await files.setUses(ctx, ownerOf(each.id), [])
  await files.keepNamed(ctx, ownerOf(previewId), popupSettings, { before: settings, after: shown })
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
  if (!row) return null
  return inWords<PopupSettings>(merged(defaultPopup, row.settings as never), popupWords, ctx.store.locale)
}
