/** HTML fields of what stands on the storefront: cleaned before they are kept. */

import { isAmong } from '#operations/store/door'
import { isAssetUrl } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import { cleanHtml, picturesOf } from './html.ts'

/** Tags that go may make a text longer than what is left of it. */
const rawFactor = 4

/** An HTML field as it comes in; its length counts once it is clean. */
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
 * The clean texts, in order. A picture stays where its address is https or a file of this store. One statement, none
 * where no text shows files of this server. Refuses by its field what is empty or too long once it is clean.
 */
export async function cleanTexts(ctx: Context, texts: readonly HtmlText[]): Promise<string[]> {
  const pictures = new Set(texts.flatMap(({ html }) => picturesOf(html)))
  const shown = [...pictures].filter((url) => isAssetUrl(ctx, url))
  const hosted = shown.filter((url) => ctx.adapters.storage.owns(url))
  const ours = await filesOf(ctx, hosted)
  const isAsset = (url: string): boolean =>
    isAssetUrl(ctx, url) && (!ctx.adapters.storage.owns(url) || ours.has(url))
  return texts.map(({ field, html, atMost }) => {
    const clean = cleanHtml(html, isAsset)
    if (clean.trim() === '')
      throw refuse('bad_request', `${field}: must not be empty, and nothing of it was left`)
    if (clean.length > atMost) throw refuse('bad_request', `${field}: must have at most ${atMost} characters`)
    return clean
  })
}

/** Of these addresses, those of files of this store. */
async function filesOf(ctx: Context, urls: readonly string[]): Promise<ReadonlySet<string>> {
  if (urls.length === 0) return new Set()
  const rows = await ctx.db.selectFrom('files').select('url').where(isAmong('url', urls)).execute()
  return new Set(rows.map((row) => row.url))
}

/** The pictures of a clean text that lie with us, so that they are kept. */
export const picturesUsed = (field: string, html: string): { url: string; field: string }[] =>
  picturesOf(html).map((url) => ({ url, field }))
