/** A block's design as it is saved: whole, valid for its type, its HTML clean. */
import { requireAssets } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { namedIn, requireReferences } from '#runtime/references'
import { object, z } from '#runtime/schema'
import { cleanTexts, type HtmlText, picturesUsed } from '../rich-text.ts'
import { type BlockType, blockDesigns, type Design, htmlLimits } from './designs.ts'

/** `change` over what was saved, at every depth of object; lists are replaced. Refuses what the type cannot be. */
export function mergedDesign(type: BlockType, before: object | null, change: object): Design {
  const { design } = read(
    object({ design: blockDesigns[type] }),
    { design: overlaid(before ?? {}, change) },
    'body',
  )
  const whole = { type, design: emptied(design) } as Design
  requireWhole(whole)
  return whole
}

function overlaid(before: object, change: object): object {
  const whole: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(change)) {
    const there = whole[key]
    whole[key] = isPlain(there) && isPlain(value) ? overlaid(there, value) : value
  }
  return whole
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts that may be missing: an empty one is none. */
function emptied<T extends { title: string | null; subtitle: string | null }>(design: T): T {
  const whole = { ...design, title: design.title || null, subtitle: design.subtitle || null }
  if (!('items' in whole)) return whole
  const items = (whole.items as object[]).map((item) =>
    'text' in item && item.text === '' ? { ...item, text: null } : item,
  )
  return { ...whole, items }
}

function requireWhole({ type, design }: Design): void {
  if (type === 'warranty' && (design.linkText === null) !== (design.linkUrl === null)) {
    const missing = design.linkText === null ? 'linkText' : 'linkUrl'
    throw refuse('bad_request', `design.${missing}: linkText and linkUrl are given both or neither`)
  }
  if (type !== 'comparison') return
  if (design.columns.filter((column) => column.isHighlighted).length > 1) {
    throw refuse('bad_request', 'design.columns: at most one may be highlighted')
  }
  const wanted = design.columns.length
  for (const [at, { cells }] of design.rows.entries()) {
    if (cells.length < wanted) {
      throw refuse(
        'bad_request',
        `design.rows.${at}.cells.${cells.length}: is missing; each row needs ${wanted} cells, one for each column`,
      )
    }
    if (cells.length > wanted) {
      throw refuse('bad_request', `design.rows.${at}.cells: must have ${wanted} cells, one for each column`)
    }
  }
}

/**
 * The design with its HTML clean. Asks storage and platform for pictures and products that `before` did not name: not
 * inside a transaction. Refuses them by their field.
 */
export async function checkedDesign(ctx: Context, before: Design | null, given: Design): Promise<Design> {
  const texts = htmlOf(given)
  const cleaned = await cleanTexts(ctx, texts)
  const clean = new Map(texts.map(({ field }, at) => [field, cleaned[at]!]))
  const design = withHtml(given, (field) => clean.get(field)!)
  await requireReferences(ctx, schemaOf(design), {
    before: before && { design: before.design },
    after: { design: design.design },
    kinds: ['file', 'product'],
    live: true,
  })
  const known = new Set(before ? picturesOf(before).map((use) => use.url) : [])
  await requireAssets(
    ctx,
    picturesOf(design).filter(({ url }) => !known.has(url)),
  )
  return design
}

/** The marks of a design say what it names; the pictures of its HTML have none. */
const schemaOf = ({ type }: Design) => z.object({ design: blockDesigns[type] as z.ZodTypeAny })

/** Its HTML, each by its field. */
function htmlOf(whole: Design): HtmlText[] {
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

/** Every picture it shows, by its field. */
export const assetsOf = (whole: Design): { url: string; field: string }[] => [
  ...namedIn(schemaOf(whole), { design: whole.design }).flatMap(({ kind, field, value }) =>
    kind === 'file' ? [{ field, url: String(value) }] : [],
  ),
  ...picturesOf(whole),
]

const picturesOf = (whole: Design): { url: string; field: string }[] =>
  htmlOf(whole).flatMap(({ field, html }) => picturesUsed(field, html))
