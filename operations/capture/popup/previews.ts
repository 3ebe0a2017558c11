/** Previews: unsaved settings that a signed link shows. They expire after a day. */

import { sql } from 'kysely'
import { files } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { ApiError, refuse } from '#runtime/errors'
import { id, instant, object, z } from '#runtime/schema'
import { hasValidSignature, sign } from '#runtime/secrets'
import { mergeChange } from '#runtime/values/changes'
import { isId } from '#runtime/values/ids'
import { translateBuiltIn } from '#runtime/values/wording'
import { defaultPopup, popupWords } from './defaults.ts'
import { applyPopupChange } from './merge.ts'
import { type PopupInput, type PopupSettings, popupSettings } from './schema.ts'
import { checkPopup, popup } from './settings.ts'

const lifetimeMs = dayMs
const maxPreviews = 20

export const preview = object({
  id,
  url: z.string().describe("On the store's own pages"),
  hostedUrl: z.string().describe('A page of this server'),
  expiresAt: instant,
})

const purpose = 'newsletter-preview'
const toSignedText = (ctx: Context, previewId: string): string => `${ctx.store.id}\n${previewId}`

/** The owner key (`files.setUses`) of a preview's images, which are kept as long as the preview. */
const toFileOwner = (previewId: string): string => `newsletter-preview:${previewId}`

/** Deletes expired previews and releases their images. */
export async function dropOldPreviews(ctx: SystemContext): Promise<void> {
  const over = await ctx.root
    .deleteFrom('newsletter_previews')
    .where('expires_at', '<', ctx.now())
    .returning(['store_id', 'id'])
    .execute()
  await files.releaseUses(
    ctx,
    over.map((row) => ({ storeId: row.store_id, owner: toFileOwner(row.id) })),
  )
}

/** Like `storePreview`, but errors name the fields of this request's body. */
export async function createPreview(ctx: Context, input: PopupInput): Promise<z.infer<typeof preview>> {
  try {
    return await storePreview(ctx, input)
  } catch (error) {
    if (!(error instanceof ApiError) || !/^[a-z]\w*(\.\w+)*: /.test(error.message)) throw error
    throw refuse(error.code, `settings.${error.message}`)
  }
}

/** Stores the settings as a save would, in the caller's transaction. Refuses what a save would refuse. */
async function storePreview(ctx: Context, input: PopupInput): Promise<z.infer<typeof preview>> {
  const settings = await popup.getEffective(ctx)
  const shown = applyPopupChange(settings, input, () => ctx.newId())
  await checkPopup(ctx, shown, settings)
  const previewId = ctx.newId()
  const now = ctx.now()
  const expiresAt = new Date(now.getTime() + lifetimeMs)
  await ctx.db
    .insertInto('newsletter_previews')
    .values({ id: previewId, settings: JSON.stringify(shown), expires_at: expiresAt, created_at: now })
    .execute()
  const newest = ctx.db
    .selectFrom('newsletter_previews')
    .select('id')
    .orderBy('id', 'desc')
    .limit(sql<number>`${maxPreviews}::int`)
  const over = await ctx.db
    .deleteFrom('newsletter_previews')
    .where('id', 'not in', newest)
    .returning('id')
    .execute()
  for (const each of over) await files.setUses(ctx, toFileOwner(each.id), [])
  await files.trackFiles(ctx, toFileOwner(previewId), popupSettings, { before: settings, after: shown })
  const token = `${previewId}.${sign(ctx.settings, purpose, toSignedText(ctx, previewId))}`
  const { publicUrl } = ctx.settings
  return {
    id: previewId,
    url: `https://${ctx.store.domain}/?popup_preview=${token}`,
    hostedUrl: `${publicUrl}/storefront/${ctx.store.publicId}/newsletter/preview?token=${token}`,
    expiresAt: expiresAt.toISOString(),
  }
}

/** Finds the settings of a link's token; null if the token is forged, or the preview has expired or was deleted. */
export async function findPreview(ctx: Context, token: string): Promise<PopupSettings | null> {
  const [previewId = '', signature = ''] = token.split('.')
  if (!isId(previewId) || !hasValidSignature(ctx.settings, purpose, toSignedText(ctx, previewId), signature))
    return null
  const row = await ctx.db
    .selectFrom('newsletter_previews')
    .select('settings')
    .where('id', '=', previewId)
    .where('expires_at', '>', ctx.now())
    .executeTakeFirst()
  if (!row) return null
  return translateBuiltIn<PopupSettings>(
    mergeChange(defaultPopup, row.settings as never),
    popupWords,
    ctx.store.locale,
  )
}
