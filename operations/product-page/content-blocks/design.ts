/** Prepares a block's design for saving: complete, valid for its type, with clean HTML. */
import { requireAssets } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { parseInput } from '#runtime/gateway/input'
import { findReferences, requireReferences } from '#runtime/references'
import { object, z } from '#runtime/schema'
import { cleanTexts, type HtmlText, listUsedPictures } from '../rich-text.ts'
import { type BlockType, blockDesigns, type Design, htmlLimits } from './designs.ts'

/**
 * Merges `change` into the saved design. Nested objects are merged too, lists are replaced. Refuses a design that is
 * invalid for the type.
 */
export function mergeDesign(type: BlockType, before: object | null, change: object): Design {
  const { design } = parseInput(
    object({ design: blockDesigns[type] }),
    { design: mergeDeep(before ?? {}, change) },
    'body',
  )
  const whole = { type, design } as Design
  requireConsistent(whole)
  return whole
}

function mergeDeep(before: object, change: object): object {
  const whole: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(change)) {
    const there = whole[key]
    whole[key] = isPlain(there) && isPlain(value) ? mergeDeep(there, value) : value
  }
  return whole
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function requireConsistent({ type, design }: Design): void {
  if (type === 'warranty' && (design.linkText === null) !== (design.linkUrl === null)) {
    const missing = design.linkText === null ? 'linkText' : 'linkUrl'
    throw refuse('bad_request', `design.${missing}: linkText and linkUrl are given both or neither`)
  }
  if (type !== 'comparison') return
  if (design.columns.filter((column) => column.isHighlighted).length > 1) {
    throw refuse('bad_request', 'design.columns: at most one may be highlighted')
  }
  const columnCount = design.columns.length
  for (const [at, { cells }] of design.rows.entries()) {
    if (cells.length < columnCount) {
      throw refuse(
        'bad_request',
        `design.rows.${at}.cells.${cells.length}: is missing; each row needs ${columnCount} cells, one for each column`,
      )
    }
    if (cells.length > columnCount) {
      throw refuse(
        'bad_request',
        `design.rows.${at}.cells: must have ${columnCount} cells, one for each column`,
      )
    }
  }
}

/**
 * Returns the design with clean HTML. Checks pictures and products that `before` did not have, at the storage and the
 * platform, so not inside a transaction. Errors name the field.
 */
export async function checkDesign(ctx: Context, before: Design | null, given: Design): Promise<Design> {
  const texts = listHtml(given)
  const cleaned = await cleanTexts(ctx, texts)
  const clean = new Map(texts.map(({ field }, at) => [field, cleaned[at]!]))
  const design = withHtml(given, (field) => clean.get(field)!)
  await requireReferences(ctx, getDesignSchema(design), {
    before: before && { design: before.design },
    after: { design: design.design },
    kinds: ['file', 'product'],
    live: true,
  })
  const known = new Set(before ? listHtmlPictures(before).map((use) => use.url) : [])
  await requireAssets(
    ctx,
    listHtmlPictures(design).filter(({ url }) => !known.has(url)),
  )
  return design
}

/** Schema of a design. Its reference marks show which products and files the design names, except pictures in its HTML. */
const getDesignSchema = ({ type }: Design) => z.object({ design: blockDesigns[type] as z.ZodTypeAny })

/** All HTML texts of a design, with their fields. */
function listHtml(whole: Design): HtmlText[] {
  const { type, design } = whole
  switch (type) {
    case 'warranty':
      return [{ field: 'design.coverageHtml', html: design.coverageHtml, atMost: htmlLimits.coverage }]
    case 'rich-text':
      return [{ field: 'design.html', html: design.html, atMost: htmlLimits.richText }]
    case 'faq':
      return design.items.map((item, at) => ({
        field: `design.items.${at}.answerHtml`,
        html: item.answerHtml,
        atMost: htmlLimits.answer,
      }))
    case 'steps':
      return design.items.map((item, at) => ({
        field: `design.items.${at}.textHtml`,
        html: item.textHtml,
        atMost: htmlLimits.step,
      }))
    default:
      return []
  }
}

function withHtml(whole: Design, htmlOfField: (field: string) => string): Design {
  const { type, design } = whole
  switch (type) {
    case 'warranty':
      return { type, design: { ...design, coverageHtml: htmlOfField('design.coverageHtml') } }
    case 'rich-text':
      return { type, design: { ...design, html: htmlOfField('design.html') } }
    case 'faq': {
      const items = design.items.map((item, at) => ({
        ...item,
        answerHtml: htmlOfField(`design.items.${at}.answerHtml`),
      }))
      return { type, design: { ...design, items } }
    }
    case 'steps': {
      const items = design.items.map((item, at) => ({
        ...item,
        textHtml: htmlOfField(`design.items.${at}.textHtml`),
      }))
      return { type, design: { ...design, items } }
    }
    default:
      return whole
  }
}

/** All pictures of a design, with their fields. */
export const listAssets = (whole: Design): { url: string; field: string }[] => [
  ...findReferences(getDesignSchema(whole), { design: whole.design }).flatMap(({ kind, field, value }) =>
    kind === 'file' ? [{ field, url: String(value) }] : [],
  ),
  ...listHtmlPictures(whole),
]

const listHtmlPictures = (whole: Design): { url: string; field: string }[] =>
  listHtml(whole).flatMap(({ field, html }) => listUsedPictures(field, html))
