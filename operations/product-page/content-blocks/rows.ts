/** Reads content blocks as stored, and as JSON built by the database. */
import { sql } from 'kysely'
import { type Schedule, type Targeting, targetingFields } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonFields, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { preparedOne, requireRow } from '#runtime/database/rows'
import { targetsProduct } from '../target-sql.ts'
import type { BlockType, Design } from './designs.ts'

export interface BlockContent extends Targeting {
  placement: 'below-price' | 'below-buy-button' | 'below-description' | 'page-bottom'
  device: 'all' | 'mobile' | 'desktop'
}

export interface Block extends Schedule {
  id: string
  name: string
  type: BlockType
  design: Design['design']
  content: BlockContent
  isActive: boolean
  priority: number
}

/** Status of a row `b`. The end date takes precedence over the switch. */
const statusIn = (now: unknown) => sql<string>`case when b.ends_at <= ${now}::timestamptz then 'ended'
  when not b.is_active then 'paused' when b.starts_at > ${now}::timestamptz then 'scheduled' else 'active' end`

const blockJson = (now: unknown) =>
  jsonObject({
    id: 'b.id',
    name: 'b.name',
    type: 'b.type',
    design: 'b.design',
    ...jsonFields('b.content', Object.keys(targetingFields)),
    startsAt: isoInstant('b.starts_at'),
    endsAt: isoInstant('b.ends_at'),
    ...jsonFields('b.content', ['placement', 'device']),
    isActive: 'b.is_active',
    priority: 'b.priority',
    status: statusIn(now),
    createdAt: isoInstant('b.created_at'),
    updatedAt: isoInstant('b.updated_at'),
  })

export const noSuchBlock = 'There is no such content block'

export const readBlock = preparedOne<{ now: Date }>(
  noSuchBlock,
  (db, { id, now }) => ({
    rows: db.selectFrom('content_blocks as b').where('b.id', '=', id),
    item: blockJson(now),
  }),
  { values: (ctx) => ({ now: ctx.now() }) },
)

interface Filters {
  now: Date
  type?: BlockType | undefined
  isActive?: boolean | undefined
  productId?: string | undefined
  /** The product's categories and all their ancestors. */
  categoryIds?: string[] | undefined
}

/** The list of blocks, by priority. */
export const blockList = preparedList<Filters>((db, values, has) => {
  let rows = db.selectFrom('content_blocks as b')
  if (has('type')) rows = rows.where('b.type', '=', sql<string>`${values.type}`)
  if (has('isActive')) rows = rows.where('b.is_active', '=', sql<boolean>`${values.isActive}::boolean`)
  if (has('productId')) rows = rows.where(targetsProduct('b', values.productId, values.categoryIds))
  return {
    rows,
    item: blockJson(values.now),
    page: 'b',
    order: [
      ['b.priority', 'asc'],
      ['b.id', 'asc'],
    ],
  }
})

/** Reads a block as stored. Refuses an unknown id with `not_found`. */
export async function findBlock(ctx: Context, id: string): Promise<Block> {
  const saved = ctx.db
    .selectFrom('content_blocks')
    .select(['id', 'name', 'type', 'design', 'content', 'starts_at', 'ends_at'])
    .select(['is_active as isActive', 'priority'])
  const { starts_at, ends_at, ...columns } = await requireRow(saved, id, noSuchBlock)
  return {
    ...(columns as Omit<Block, keyof Schedule>),
    startsAt: starts_at?.toISOString() ?? null,
    endsAt: ends_at?.toISOString() ?? null,
  }
}
