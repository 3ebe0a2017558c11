/** Size guides: read, made, changed and deleted. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/door'
import {
  changed,
  emptyToNull,
  everyProduct,
  findTarget,
  mergedTargeting,
  requireAssets,
  requireTargets,
  targetingFields,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { fieldsOf, instantOf, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { oneRow, preparedOne, requireRoom } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { requireReferences } from '#runtime/references'
import { given } from '#runtime/values/changes'
import { english } from '#runtime/values/wording'
import { cleanHtml } from '../html.ts'
import { cleanTexts, picturesUsed } from '../rich-text.ts'
import { settledWrite } from '../settled-write.ts'
import { guideOf } from './choice.ts'
import {
  guideWords,
  instructionsAtMost,
  type SizeGuideChange,
  type SizeGuideContent,
  sizeGuide,
} from './schema.ts'

const guidesAtMost = 200

const content = (...keys: (keyof SizeGuideContent)[]) => fieldsOf('g.content', keys)
const guideJson = jsonObject({
  id: 'g.id',
  name: 'g.name',
  ...fieldsOf('g.content', Object.keys(targetingFields)),
  ...content('unit', 'showUnitSwitch', 'tables', 'instructionsHtml', 'imageUrl', 'display', 'linkText'),
  isActive: 'g.is_active',
  createdAt: instantOf('g.created_at'),
  updatedAt: instantOf('g.updated_at'),
})

const noSuch = 'There is no such size guide'

export const readGuide = preparedOne(noSuch, (db, { id }) => ({
  rows: db.selectFrom('size_guides as g').where('g.id', '=', id),
  item: guideJson,
}))

const guideList = preparedList<{ search?: string | undefined; id?: string | undefined }>(
  (db, values, has) => {
    let rows = db.selectFrom('size_guides as g')
    if (has('id')) rows = rows.where('g.id', '=', sql<string>`${values.id}`)
    if (has('search')) rows = rows.where(sql<boolean>`strpos(lower(g.name), lower(${values.search})) > 0`)
    return { rows, item: guideJson, page: 'g', order: [['g.id', 'desc']] }
  },
  { text: ['search'] },
)

/** Newest first; of a product, the one that is shown. Not inside a transaction: a product may be asked for. */
export async function listGuides(
  ctx: Context,
  query: Paging & { search?: string | undefined; productId?: string | undefined },
): Promise<JsonText> {
  const { productId, ...filters } = query
  if (productId === undefined) return guideList(ctx, filters)
  const product = await findTarget(ctx, productId)
  const [shown] = product ? await guideOf(ctx, product) : []
  if (shown) return guideList(ctx, { ...filters, id: shown.id })
  const { page, limit } = query
  return new JsonText(JSON.stringify({ data: [], page, limit, total: 0 }))
}

interface Draft {
  name: string
  isActive: boolean
  content: SizeGuideContent
}

const defaults: Omit<SizeGuideContent, 'tables'> = {
  ...everyProduct,
  unit: 'cm',
  showUnitSwitch: false,
  instructionsHtml: null,
  imageUrl: null,
  display: 'modal',
  ...english(guideWords),
}

async function find(ctx: Context, id: string): Promise<Draft & { id: string }> {
  const saved = ctx.db.selectFrom('size_guides').select(['id', 'name', 'is_active as isActive', 'content'])
  const row = await oneRow(saved, id, noSuch)
  return { ...row, content: row.content as SizeGuideContent }
}

/** Answers its id. Not inside a transaction. */
export async function createGuide(
  ctx: Context,
  input: SizeGuideChange & Required<Pick<SizeGuideChange, 'name' | 'tables'>>,
): Promise<string> {
  const draft = await prepare(ctx, null, input)
  return ctx.transaction(async (tx) => {
    const full = `There are ${guidesAtMost} size guides, and there cannot be more: delete one first`
    await requireRoom(tx, tx.db.selectFrom('size_guides'), guidesAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    await tx.db
      .insertInto('size_guides')
      .values({ id, ...columnsOf(draft), created_at: now, updated_at: now })
      .execute()
    await keepFiles(tx, id, { before: null, after: draft.content })
    await changed(tx)
    return id
  })
}

/** What is left out stays; the same again changes nothing. Not inside a transaction. */
export async function changeGuide(ctx: Context, id: string, change: SizeGuideChange): Promise<void> {
  await settledWrite(ctx, {
    read: (at) => find(at, id),
    prepare: (before) => prepare(ctx, before, change),
    async write(tx, { id: known, ...before }, after) {
      if (isDeepStrictEqual(before, after)) return
      await tx.db
        .updateTable('size_guides')
        .set({ ...columnsOf(after), updated_at: tx.now() })
        .where('id', '=', known)
        .execute()
      await keepFiles(tx, known, { before: before.content, after: after.content })
      await changed(tx)
    },
  })
}

/** In the caller's transaction. */
export async function deleteGuide(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known } = await find(ctx, id)
  await ctx.db.deleteFrom('size_guides').where('id', '=', known).execute()
  await keepFiles(ctx, known, { before: null, after: null })
  await changed(ctx)
}

const columnsOf = ({ name, isActive, content: kept }: Draft) => ({
  name,
  is_active: isActive,
  content: JSON.stringify(kept),
})

/** Merged, whole, clean, and what it names asked for. */
async function prepare(ctx: Context, before: Draft | null, change: SizeGuideChange): Promise<Draft> {
  const { name, isActive, tables, instructionsHtml, ...rest } = change
  const { scope, categoryIds, productIds, excludedProductIds, ...own } = rest
  const saved = before?.content ?? null
  const after = {
    ...(saved ?? defaults),
    ...given(own),
    ...mergedTargeting(saved ?? everyProduct, { scope, categoryIds, productIds, excludedProductIds }),
    instructionsHtml:
      instructionsHtml === undefined
        ? (saved?.instructionsHtml ?? null)
        : await cleanInstructions(ctx, instructionsHtml),
    tables: tables
      ? tables.map(({ title = null, columns, rows }) => ({ title: emptyToNull(title), columns, rows }))
      : saved!.tables,
  }
  requireWhole(after)
  await requireTargets(ctx, saved, after)
  await requireReferences(ctx, sizeGuide, { before: saved, after, kinds: ['file'] })
  const known = new Set(saved ? picturesOf(saved).map(({ url }) => url) : [])
  await requireAssets(
    ctx,
    picturesOf(after).filter(({ url }) => !known.has(url)),
  )
  return { name: name ?? before!.name, isActive: isActive ?? before?.isActive ?? true, content: after }
}

/** Null where nothing is left of it. */
async function cleanInstructions(ctx: Context, html: string | null): Promise<string | null> {
  if (html === null || cleanHtml(html, () => true).trim() === '') return null
  const [clean] = await cleanTexts(ctx, [{ field: 'instructionsHtml', html, atMost: instructionsAtMost }])
  return clean!
}

function requireWhole({ unit, showUnitSwitch, tables }: SizeGuideContent): void {
  if (unit === 'none' && showUnitSwitch) {
    throw refuse('bad_request', 'showUnitSwitch: needs a unit of cm or in')
  }
  for (const [at, { columns, rows }] of tables.entries()) {
    const wrong = rows.findIndex((row) => row.length !== columns.length)
    if (wrong >= 0) {
      throw refuse(
        'bad_request',
        `tables.${at}.rows.${wrong}: must have ${columns.length} cells, one for each column`,
      )
    }
  }
}

/** The marks of its schema say what it names; the pictures of its HTML have none. */
const picturesOf = ({ instructionsHtml }: SizeGuideContent): { url: string; field: string }[] =>
  instructionsHtml === null ? [] : picturesUsed('instructionsHtml', instructionsHtml)

const keepFiles = (
  ctx: Context,
  id: string,
  named: { before: SizeGuideContent | null; after: SizeGuideContent | null },
): Promise<void> =>
  files.keepNamed(ctx, `size-guide:${id}`, sizeGuide, {
    ...named,
    also: named.after ? picturesOf(named.after) : [],
  })
