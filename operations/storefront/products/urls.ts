/** URLs of pictures, videos and links that the storefront shows. */
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reference } from '#runtime/references'
import { z } from '#runtime/schema'

/** An `AssetUrl`. Checks only the form; `requireAssets` checks the rest, as it depends on the address of our storage. */
export const assetUrl = reference('file', z.string())

  .min(1)
  .max(2000)
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s]+$/, 'must be an https address or the fileUrl of an upload')
  .describe('https address, or the fileUrl of an upload of this store')

/** A `LinkUrl`. Refuses backslashes, because browsers read `/\` as `//`, which leads to another site. */
export const linkUrl = z
  .string()
  .max(2000)
  .regex(
    /^(?:https?:\/\/[^\s\\/][^\s]*|mailto:[^\s]+|tel:[^\s]+|\/(?:[^\s/\\][^\s]*)?)$/,
    'must begin with https:, http:, mailto:, tel: or a single /',
  )
  .describe('https:, http:, mailto: or tel: address, or a path of the shop')

export const isLinkUrl = (text: string): boolean => linkUrl.safeParse(text).success

/**
 * Whether an address may be shown as a picture or video. Accepts uploads of every store; `requireAssets` checks the owner.
 */
export function isAssetUrl(ctx: Context, url: string): boolean {
  if (url.length > 2000 || /\s/.test(url)) return false
  if (ctx.adapters.storage.owns(url)) return true
  return URL.canParse(url) && new URL(url).protocol === 'https:'
}

/**
 * Refuses an address that is neither https nor a finished upload of this store, naming its field. Calls the storage, so
 * run it before the transaction that retains the files with `files.setUses`.
 */
export async function requireAssets(
  ctx: Context,
  uses: readonly { url: string; field: string }[],
): Promise<void> {
  for (const { url, field } of uses) {
    if (!isAssetUrl(ctx, url)) {
      throw refuse('bad_request', `${field}: must be an https address or the fileUrl of an upload`)
    }
    if (ctx.adapters.storage.owns(url)) await files.requireUploaded(ctx, null, url, field)
  }
}
