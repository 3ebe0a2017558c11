/** Content blocks: made, changed, switched, ordered and deleted. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/door'
import {
  always,
  changed,
  everyProduct,
  findTarget,
  forgetCounted,
  mergedSchedule,
  mergedTargeting,
  phaseOf,
  requireTargets,
  type Schedule,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import type { Paging } from '#runtime/database/list'
import { countRows, reorder, requireRoom } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { settledWrite } from '../settled-write.ts'
import { assetsOf, checkedDesign, mergedDesign } from './design.ts'
import type { BlockType, Design } from './designs.ts'
import { type Block, type BlockContent, blockList, findBlock, noSuchBlock } from './rows.ts'
import type { BlockChange, NewBlock } from './schema.ts'

const blocksAtMost = 100

/** Of a product that neither mirror nor platform knows: none. May ask the platform: not inside a transaction. */
export async function listBlocks(
  ctx: Context,
  query: Paging & {
    type?: BlockType | undefined
    isActive?: boolean | undefined
    productId?: string | undefined
  },
): Promise<JsonText> {
  const { productId, ...filters } = query
  const now = ctx.now()
  if (productId === undefined) return blockList(ctx, { ...filters, now })
  const product = await findTarget(ctx, productId)
  if (!product) return noneOf(query)
  return blockList(ctx, { ...filters, now, productId, categoryIds: [...product.categoryIds] })
}

const noneOf = ({ page, limit }: Paging): JsonText =>
  new JsonText(JSON.stringify({ data: [], page, limit, total: 0 }))

/** What a change makes of a block, before the platform is asked. */
interface Draft extends Schedule {
  name: string
  content: BlockContent
  whole: Design
}

const defaultContent: BlockContent = { ...everyProduct, placement: 'below-description', device: 'all' }

function merged(ctx: Context, before: Block | null, type: BlockType, change: BlockChange): Draft {
  const base = before?.content ?? defaultContent
  const { name, design, startsAt, endsAt, placement, device, ...targeting } = change
  return {
    name: name ?? before!.name,
    ...mergedSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content: {
      ...mergedTargeting(base, targeting),
      placement: placement ?? base.placement,
      device: device ?? base.device,
    },
    whole: mergedDesign(type, before?.design ?? null, design ?? {}),
  }
}

/** With what it names asked of platform and storage, and its HTML clean. */
async function checked(ctx: Context, before: Block | null, draft: Draft): Promise<Draft> {
  await requireTargets(ctx, before?.content ?? null, draft.content)
  const saved = before ? ({ type: before.type, design: before.design } as Design) : null
  return { ...draft, whole: await checkedDesign(ctx, saved, draft.whole) }
}

const columnsOf = ({ name, content, whole, startsAt, endsAt }: Draft) => ({
  name,
  design: JSON.stringify(whole.design),
  content: JSON.stringify(content),
  starts_at: startsAt,
  ends_at: endsAt,
})

const keepFiles = (ctx: Context, id: string, whole: Design | null): Promise<void> =>
  files.setUses(
    ctx,
    `content-block:${id}`,
    (whole ? assetsOf(whole) : []).map((use) => ({ ...use, purpose: null })),
    undefined,
    whole,
  )

/** Paused, after all others. Answers its id. Not inside a transaction. Refuses the 101st. */
export async function createBlock(ctx: Context, input: NewBlock): Promise<string> {
  const { type, ...change } = input
  const draft = await checked(ctx, null, merged(ctx, null, type, change))
  return ctx.transaction(async (tx) => {
    const full = `There are ${blocksAtMost} blocks, and there cannot be more: delete one first`
    const count = await requireRoom(tx, tx.db.selectFrom('content_blocks'), blocksAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    const row = { id, type, is_active: false, priority: count + 1, created_at: now, updated_at: now }
    await tx.db
      .insertInto('content_blocks')
      .values({ ...row, ...columnsOf(draft) })
      .execute()
    await keepFiles(tx, id, draft.whole)
    await changed(tx)
    return id
  })
}

/** What is left out stays; the same again changes nothing. Not inside a transaction. Refuses another type. */
export async function changeBlock(ctx: Context, id: string, change: BlockChange): Promise<void> {
  const { type, ...fields } = change
  await settledWrite(ctx, {
    read: (at) => findBlock(at, id),
    async prepare(before) {
      if (type !== undefined && type !== before.type) {
        throw refuse('bad_request', `type: is ${before.type} and stays so; create another block instead`)
      }
      return checked(ctx, before, merged(ctx, before, before.type, fields))
    },
    async write(tx, before, draft) {
      const { name, content, startsAt, endsAt } = before
      const saved: Draft = {
        ...{ name, content, startsAt, endsAt },
        whole: { type: before.type, design: before.design } as Design,
      }
      if (isDeepStrictEqual(saved, draft)) return
      await tx.db
        .updateTable('content_blocks')
        .set({ ...columnsOf(draft), updated_at: tx.now() })
        .where('id', '=', before.id)
        .execute()
      await keepFiles(tx, before.id, draft.whole)
      if (before.isActive) await changed(tx)
    },
  })
}

/**
 * Switches a block on or off, moves it to a place (the last where there are fewer), or both. In the caller's
 * transaction. Refuses neither, and switching on what has ended.
 */
export async function moveBlock(
  ctx: Context,
  id: string,
  { isActive, priority }: { isActive?: boolean | undefined; priority?: number | undefined },
): Promise<void> {
  if (isActive === undefined && priority === undefined) {
    throw refuse('bad_request', 'isActive: give it, or priority, or both')
  }
  await ctx.lockStore()
  const before = await findBlock(ctx, id)
  const turned = isActive ?? before.isActive
  if (turned && !before.isActive && phaseOf(before, ctx.now()) === 'ended') {
    throw refuse('conflict', 'The block has ended: change its endsAt first')
  }
  const last = priority === undefined ? 0 : await countRows(ctx.db.selectFrom('content_blocks'))
  const place = priority === undefined ? before.priority : Math.min(priority, last)
  if (turned === before.isActive && place === before.priority) return
  await shift(ctx, before.priority, place)
  await ctx.db
    .updateTable('content_blocks')
    .set({ is_active: turned, priority: place, updated_at: ctx.now() })
    .where('id', '=', before.id)
    .execute()
  await changed(ctx)
}

/** Events lock the blocks that they count by id: who writes several does the same, so that neither waits for ever. */
async function lockBlocks(ctx: Context): Promise<void> {
  await ctx.db.selectFrom('content_blocks').select('id').orderBy('id').forUpdate().execute()
}

/** The blocks between two places make room. */
async function shift(ctx: Context, from: number, to: number): Promise<void> {
  if (from === to) return
  await lockBlocks(ctx)
  const [first, last, step] = from < to ? [from + 1, to, -1] : [to, from - 1, 1]
  await ctx.db
    .updateTable('content_blocks')
    .set({ priority: sql`priority + ${step}::int`, updated_at: ctx.now() })
    .where('priority', '>=', first)
    .where('priority', '<=', last)
    .execute()
}

/**
 * All blocks in a new order. In the caller's transaction; two at once take turns. Refuses an id given twice
 * (`bad_request`), one that is not there (`not_found`), and a block left out (`conflict`).
 */
export async function reorderBlocks(
  ctx: Context,
  ids: readonly string[],
): Promise<{ data: { id: string; priority: number }[] }> {
  const order = await reorder(ctx, { table: 'content_blocks', place: 'priority' }, ids, {
    twice: (id) => `ids: names ${id} twice`,
    none: noSuchBlock,
    leftOut: 'There are blocks that the order leaves out: read the list again',
  })
  if (order.isMoved) await changed(ctx)
  return { data: order.ids.map((id, at) => ({ id, priority: at + 1 })) }
}

/** With its counters, and the gap in the order closed. In the caller's transaction. */
export async function deleteBlock(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known, priority } = await findBlock(ctx, id)
  await lockBlocks(ctx)
  await ctx.db.deleteFrom('content_blocks').where('id', '=', known).execute()
  await ctx.db
    .updateTable('content_blocks')
    .set({ priority: sql`priority - 1`, updated_at: ctx.now() })
    .where('priority', '>', priority)
    .execute()
  await keepFiles(ctx, known, null)
  await forgetCounted(ctx, 'content-block', known)
  await changed(ctx)
}
