/** HTML fields shown on the storefront: cleaned before they are stored. */

import { isAmong } from '#operations/store/index'
import { isAssetUrl } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import { countCharacters } from '#runtime/values/truncate'
import { cleanHtml, listPictures } from './html.ts'

/** How much longer HTML may be before cleaning, which removes tags. */
const rawFactor = 4

/** Schema of an HTML field in a request body. `cleanTexts` checks the length again after cleaning. */
export const htmlField = (atMost: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(atMost * rawFactor, `must have at most ${atMost} characters`)
    .describe(`HTML: harmless tags stay; at most ${atMost} characters after cleaning`)

export interface HtmlText {
  field: string
  html: string
  atMost: number
}

/**
 * Returns the cleaned texts, in order. A picture stays if its URL is https or a file of this store. Refuses texts that are
 * empty or too long after cleaning, naming the field. One statement; none if no text shows files of this server.
 */
export async function cleanTexts(ctx: Context, texts: readonly HtmlText[]): Promise<string[]> {
  const pictures = new Set(texts.flatMap(({ html }) => listPictures(html)))
  const shown = [...pictures].filter((url) => isAssetUrl(ctx, url))
  const hosted = shown.filter((url) => ctx.adapters.storage.owns(url))
  const ours = await findStoreFiles(ctx, hosted)
  const isAsset = (url: string): boolean =>
    isAssetUrl(ctx, url) && (!ctx.adapters.storage.owns(url) || ours.has(url))
  return texts.map(({ field, html, atMost }) => {
    const clean = cleanHtml(html, isAsset)
    if (clean.trim() === '')
      throw refuse('bad_request', `${field}: must not be empty, and nothing of it was left`)
    if (countCharacters(clean) > atMost)
      throw refuse('bad_request', `${field}: must have at most ${atMost} characters`)
    return clean
  })
}

/** Returns those of the URLs that are files of this store. */
async function findStoreFiles(ctx: Context, urls: readonly string[]): Promise<ReadonlySet<string>> {
  if (urls.length === 0) return new Set()
  const rows = await ctx.db.selectFrom('files').select('url').where(isAmong('url', urls)).execute()
  return new Set(rows.map((row) => row.url))
}

/** Lists the pictures of a cleaned text for `files.setUses`, which retains those that are stored on this server. */
export const listUsedPictures = (field: string, html: string): { url: string; field: string }[] =>
  listPictures(html).map((url) => ({ url, field }))
